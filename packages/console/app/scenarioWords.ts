import { timeIn } from "./format.js"
import type { Client, Fault, Json, Receiver } from "./model.js"

/** The acts of the owner, as scenarios name them. */
export const owner: Readonly<Record<string, string>> = {
  "POST /shops/{id}/webhook/rotate": "rotate secret",
  "POST /shops/{id}/webhook/ping": "ping",
  "POST /shops/{id}/webhook/enable": "enable webhook",
  "POST /shops/{id}/webhook/disable": "disable webhook",
  "DELETE /shops/{id}/webhook": "remove webhook"
}

/** The acts of the app on a ticket, as scenarios name them. */
export const app: Readonly<Record<string, string>> = {
  "": "edit ticket",
  "/quote": "propose quote",
  "/quote/accept": "accept quote",
  "/quote/refuse": "refuse quote",
  "/delay": "announce delay",
  "/part": "record part",
  "/photo": "attach photo"
}

/** A fault as scenarios write it. An omitted field means any, or all. */
export const saidFault = ({ method, path, fault, next, delay_ms }: Fault): unknown => ({
  ...(method === null ? {} : { method }),
  ...(path === null ? {} : { path }),
  fault: /^\d+$/.test(fault) ? Number(fault) : fault,
  ...(next === null ? {} : { next }),
  ...(fault === "delay" ? { delay_ms } : {})
})

/** The behaviour of a receiver, as scenarios write it. */
export const behaviourOf = ({ answer, times }: Pick<Receiver, "answer" | "times">): unknown => {
  const late = answer === "late" ? { answers: 200, delay: "11s" } : null
  if (late === null && times === null) return answer
  return { ...(late ?? { answers: answer }), ...(times === null ? {} : { times }) }
}

/** The time of day, to the millisecond: `11:20:42.005`. */
export const timeOfDay = (zone: string, at: number): string =>
  `${timeIn(zone, at)}.${String(at % 1000).padStart(3, "0")}`

/** A client under `given`, without the phone number, because each run uses a free one. */
export const givenClient = ({ display_name, known }: Client): unknown => {
  const [given_name = "", ...rest] = display_name.split(" ")
  const family = rest.join(" ")
  const hidden = /^(\S)\.$/.exec(family)?.[1]
  return {
    given_name,
    ...(family === "" ? {} : { family_name: hidden ?? family }),
    ...(hidden === undefined ? {} : { hide_name: true }),
    ...(known ? { knows: ["$shop"] } : {})
  }
}

/** Turns fields by path, such as `money.price_minor`, into a nested object. */
export const nestFields = (fields: Readonly<Record<string, Json>>): Json => {
  const whole: Json = {}
  for (const [path, value] of Object.entries(fields)) {
    const names = path.split(".")
    let part = whole
    for (const name of names.slice(0, -1)) part = part[name] ??= {}
    part[names.at(-1)!] = value
  }
  return whole
}
