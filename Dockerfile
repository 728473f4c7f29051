# The service alone: it keeps its data in the Postgres that DATABASE_URL names. The version is exact. It has no
# digest, because a digest is only worth as much as the look-up in the registry that gave it: docs/operating.md says how to
# look it up and pin it.
ARG NODE_IMAGE=node:20.20.2-bookworm-slim
FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json tsconfig.json tsconfig.base.json ./
COPY packages/client/package.json packages/client/
COPY packages/webhooks/package.json packages/webhooks/
COPY packages/core/package.json packages/core/
COPY packages/store-memory/package.json packages/store-memory/
COPY packages/store-pg/package.json packages/store-pg/
COPY packages/console/package.json packages/console/
COPY packages/http-node/package.json packages/http-node/
COPY packages/testers/package.json packages/testers/
COPY packages/cli/package.json packages/cli/
COPY bench/package.json bench/
COPY examples/package.json examples/
COPY docs/reference/package.json docs/reference/
COPY test/smallest-typescript/package.json test/smallest-typescript/
# What is built is not there yet, so nothing may be built while installing.
RUN npm ci --ignore-scripts
COPY packages packages
RUN npx tsc -b packages/cli && npm run prepack --workspace packages/console --workspace packages/http-node --workspace packages/cli

FROM ${NODE_IMAGE} AS modules
WORKDIR /app
COPY --from=build /app/package.json /app/package-lock.json ./
COPY --from=build /app/packages packages
# The embedded Postgres is for machines without one, and would be most of the image.
RUN npm ci --omit=dev --omit=optional --ignore-scripts --workspace packages/cli

FROM ${NODE_IMAGE}
ENV NODE_ENV=production WORKSHOP_HOST=0.0.0.0 WORKSHOP_PORT=4010 WORKSHOP_STORE=postgres
WORKDIR /app
COPY --from=modules /app ./
USER node
EXPOSE 4010
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:4010/healthz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
STOPSIGNAL SIGTERM
# Without a shell or npm between, so that the signal arrives.
ENTRYPOINT ["node", "packages/cli/bin/workshop.js"]
CMD ["serve"]
