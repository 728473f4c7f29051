import { Either, Schema } from "effect"
import { sha256Hex } from "../domain/Digest.js"
import { type IdempotencyRecord, idempotencyRecordKey } from "../domain/IdempotencyRecord.js"
import type { CallerId } from "../domain/Identifier.js"
import { Limits, ServiceLimits } from "../domain/Limits.js"
import { RefusalOf } from "../domain/RefusalOf.js"
import { Text } from "../domain/Text.js"
import type { Decision } from "./ChangeSet.js"
import type { Command } from "./Command.js"

/** The key under which a caller may repeat a request and get the first response (Specification, Endpoints). */
export const IdempotencyKey = Text(Limits.idempotency_key_characters).pipe(Schema.brand("IdempotencyKey"))
/** A key of at most `Limits.idempotency_key_characters` characters. */
export type IdempotencyKey = typeof IdempotencyKey.Type

/** The key was already used for another request of this operation (Specification, Idempotency). */
export class IdempotencyKeyReused extends RefusalOf(
  "IdempotencyKeyReused",
  "This Idempotency-Key was already used for another request. Send a new key with each new request."
) {}

/** A result, which may be the repeated first result. */
export interface IdempotentResult<out A> {
  /** The result of the first request with the key. */
  readonly data: A
  /** Whether this request repeated an earlier one, and therefore changed nothing. */
  readonly replayed: boolean
}

type Fields = Readonly<Record<string, unknown>>

/**
 * The fingerprint of a request that contained data of an erased client. Any request with its key counts as a repetition, so that a till that
 * repeats the request does not create a second ticket.
 */
export const ERASED_FINGERPRINT = ""

/** The parts of a request by which two requests are compared. */
export interface Idempotent {
  readonly caller_id: CallerId
  readonly operation: string
  readonly key: IdempotencyKey
  /** The decoded path parameters and body (Specification, Idempotency). */
  readonly request: unknown
  /** The field values that mean the same as an absent field. */
  readonly defaults?: Fields
}

const isGiven = (name: string, value: unknown, defaults: Fields): boolean =>
  value !== undefined && value !== null && value !== defaults[name]

const NONE: Fields = {}

/** The value with sorted fields, without fields that mean the same as absent ones. */
const toCanonical = (value: unknown, defaults: Fields): unknown => {
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.map((entry) => toCanonical(entry, NONE))
  const fields = value as Fields
  const givenFields: Record<string, unknown> = {}
  for (const name of Object.keys(fields).sort()) {
    const field = fields[name]
    if (isGiven(name, field, defaults)) givenFields[name] = toCanonical(field, NONE)
  }
  return givenFields
}

/**
 * A text that is equal for requests that differ only in the order of fields, in absent instead of null fields, or in
 * explicit defaults.
 */
export const fingerprintOf = (request: unknown, defaults: Fields = NONE): string => {
  const text = JSON.stringify(toCanonical(request, defaults))
  return text.length <= ServiceLimits.fingerprint_characters ? text : sha256Hex(text)
}

/**
 * Makes a command run once for each key: a repetition gets the unchanged first result, and changes nothing. The record
 * of a success is saved with the command's changes; refusals are not recorded. Commands of one shop run one after
 * another, so a duplicate that arrives while the first command runs waits, and then finds the record (Specification,
 * Idempotency).
 */
export const makeIdempotent = <A, E>(
  { caller_id, operation, key, request, defaults }: Idempotent,
  command: Command<A, E>
): Command<IdempotentResult<A>, E | IdempotencyKeyReused> => {
  const record = { caller_id, operation, key }
  const recordKey = idempotencyRecordKey(record)
  const requestFingerprint = fingerprintOf(request, defaults)
  return {
    shop_id: command.shop_id,
    loadRequests: [...command.loadRequests, { _tag: "IdempotencyRecord", key: record }],
    run: (state, moment): Either.Either<Decision<IdempotentResult<A>>, E | IdempotencyKeyReused> => {
      const storedRecord = state.idempotency_records.get(recordKey)
      if (storedRecord !== undefined && moment.now < storedRecord.expires_at) {
        return storedRecord.fingerprint === requestFingerprint || storedRecord.fingerprint === ERASED_FINGERPRINT
          ? Either.right({
              result: { data: JSON.parse(storedRecord.response) as A, replayed: true },
              changes: [],
              limitStatuses: []
            })
          : Either.left(new IdempotencyKeyReused())
      }
      return Either.map(command.run(state, moment), ({ result, changes, limitStatuses }) => {
        const expires_at = moment.now + Limits.idempotency_memory_ms
        const row: IdempotencyRecord = {
          caller_id,
          operation,
          key,
          shop_id: command.shop_id,
          fingerprint: requestFingerprint,
          response: JSON.stringify(result),
          expires_at
        }
        return {
          result: { data: result, replayed: false },
          changes: [...changes, { _tag: "IdempotencyRecordPut", row }],
          limitStatuses
        }
      })
    }
  }
}
