import { createCipheriv, createDecipheriv, createHash, createHmac } from "node:crypto"
import { StoreUnavailable } from "@workshop/core"
import type { Webhook } from "@workshop/core/store"
import { Data, Either } from "effect"

/**
 * The reason of the refusal. `invalid_key`: a key has the wrong form. `missing_key`: secrets are encrypted with a key that was not given.
 * `damaged`: a secret cannot be decrypted with its key.
 */
export type SecretsRefusal = "invalid_key" | "missing_key" | "damaged"

/** Webhook secrets cannot be encrypted or decrypted. */
export class SecretsRefused extends Data.TaggedError("SecretsRefused")<{
  readonly reason: SecretsRefusal
  /** The error and its remedy, without a full stop at the end. */
  readonly what: string
}> {
  /** The problem and its remedy, as text for the operator. */
  override get message() {
    return `${this.what}.`
  }
}

const GIVEN_AS = "WORKSHOP_SECRETS_KEY (or the option secretsKeys)"

/** The error for secrets that are encrypted with a key that this process does not have. */
export const keyMissing = (key_id: string): SecretsRefused =>
  new SecretsRefused({
    reason: "missing_key",
    what: `The database has webhook secrets that are encrypted with the key ${key_id}, but this process does not have that key. Add the key to ${GIVEN_AS}`
  })

/** The error of commands and reads for a secret that cannot be decrypted. */
export const secretsUnavailable = (refused: SecretsRefused): StoreUnavailable =>
  new StoreUnavailable({ cause: refused, remedy: refused.message })

const SEALED = "sealed:"
const CIPHER = "aes-256-gcm"
const KEY_BYTES = 32
const IV_BYTES = 12
const TAG_BYTES = 16
const KEY_ID_DIGITS = 8

interface Key {
  readonly id: string
  readonly cipher: Buffer
  readonly iv: Buffer
}

const bytesOf = (text: string): Buffer => Buffer.from(text, /^[0-9a-f]{64}$/i.test(text) ? "hex" : "base64")

const readKey = (text: string, i: number): Either.Either<Key, SecretsRefused> => {
  const bytes = /^[\w+/-]{43,64}=?$/.test(text) ? bytesOf(text) : Buffer.alloc(0)
  if (bytes.length !== KEY_BYTES) {
    const what = `Key ${i + 1} of ${GIVEN_AS} is not 32 bytes in base64 or hex. Create a key with openssl rand -base64 32`
    return Either.left(new SecretsRefused({ reason: "invalid_key", what }))
  }
  const deriveKey = (purpose: string) => createHmac("sha256", bytes).update(purpose).digest()
  return Either.right({
    id: createHash("sha256").update(bytes).digest("hex").slice(0, KEY_ID_DIGITS),
    cipher: deriveKey("workshop webhook secret"),
    iv: deriveKey("workshop webhook iv")
  })
}

/** The id of the key that encrypted a text; null for an unencrypted text. */
const keyIdOf = (text: string): string | null => (text.startsWith(SEALED) ? text.split(":")[1]! : null)

/**
 * Encrypts a secret. The initialisation vector is derived from the secret and its shop, so it repeats only for the same
 * secret of the same shop, and saving a row again does not change its text.
 */
const sealWith = ({ id, cipher, iv: ivKey }: Key, shop_id: string, text: string): string => {
  const iv = createHmac("sha256", ivKey).update(`${shop_id} ${text}`).digest().subarray(0, IV_BYTES)
  const sealing = createCipheriv(CIPHER, cipher, iv).setAAD(Buffer.from(shop_id))
  const ciphertext = Buffer.concat([sealing.update(text, "utf8"), sealing.final()])
  return `${SEALED}${id}:${[iv, sealing.getAuthTag(), ciphertext].map((part) => part.toString("base64url")).join(".")}`
}

const openWith = ({ cipher }: Key, shop_id: string, sealed: string): string => {
  const [iv, tag, text] = sealed
    .split(":")[2]!
    .split(".")
    .map((part) => Buffer.from(part, "base64url"))
  const opening = createDecipheriv(CIPHER, cipher, iv!, { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(shop_id))
    .setAuthTag(tag!)
  return opening.update(text!, undefined, "utf8") + opening.final("utf8")
}

/** The columns of a webhook's row with its secrets. */
export type SecretColumns = Pick<Webhook, "shop_id" | "secret" | "previous_secret">

/**
 * Encrypts and decrypts webhook secrets with AES-256-GCM and the shop's id as additional data. The first key encrypts,
 * all decrypt. Without a key, secrets are stored unencrypted. An unencrypted secret can be read with or without keys.
 */
export class WebhookSecrets {
  readonly #keys: ReadonlyArray<Key>
  /** The id of the key that was missing when a secret was last read; null if none was missing. */
  missing: string | null = null

  private constructor(keys: ReadonlyArray<Key>) {
    this.#keys = keys
  }

  /** Parses keys, each 32 random bytes in base64 or hex. */
  static of(keys: ReadonlyArray<string> = []): Either.Either<WebhookSecrets, SecretsRefused> {
    return Either.map(Either.all(keys.map(readKey)), (read) => new WebhookSecrets(read))
  }

  /** The ids of the keys. */
  get keyIds(): ReadonlyArray<string> {
    return this.#keys.map(({ id }) => id)
  }

  /** Returns the row with encrypted secrets if there is a key. A secret that is already encrypted does not change. */
  seal<Row extends SecretColumns>(row: Row): Row {
    const [key] = this.#keys
    if (key === undefined) return row
    const sealText = (text: string) => (keyIdOf(text) === null ? sealWith(key, row.shop_id, text) : text)
    return {
      ...row,
      secret: sealText(row.secret),
      previous_secret: row.previous_secret && sealText(row.previous_secret)
    }
  }

  /** Returns the row with decrypted secrets. */
  open<Row extends SecretColumns>(row: Row): Either.Either<Row, SecretsRefused> {
    return Either.gen(this, function* () {
      const secret = yield* this.#opened(row.shop_id, row.secret)
      const previous_secret = row.previous_secret && (yield* this.#opened(row.shop_id, row.previous_secret))
      return { ...row, secret, previous_secret }
    })
  }

  #opened(shop_id: string, text: string): Either.Either<string, SecretsRefused> {
    const key_id = keyIdOf(text)
    if (key_id === null) return Either.right(text)
    const key = this.#keys.find(({ id }) => id === key_id)
    if (key === undefined) {
      this.missing = key_id
      return Either.left(keyMissing(key_id))
    }
    return Either.try({
      try: () => openWith(key, shop_id, text),
      catch: () =>
        new SecretsRefused({
          reason: "damaged",
          what: `The webhook secret of the shop ${shop_id} cannot be decrypted with its key ${key_id}, because the row was changed. Restore the shop's row in the table webhook from a backup`
        })
    })
  }
}

/** WebhookSecrets without a key, which stores secrets unencrypted. */
export const unencryptedSecrets: WebhookSecrets = Either.getOrThrow(WebhookSecrets.of())
