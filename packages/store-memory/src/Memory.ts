import {
  type AuditEntry,
  type ClientAccount,
  type ClientId,
  type KeyId,
  type NotificationRecord,
  type OfferId,
  type OfferRecord,
  type Phone,
  type PolicyName,
  type ShopId,
  ShopNotFound,
  type ShopRecord
} from "@workshop/core"
import {
  type Change,
  type DueNotification,
  type LimitWindow,
  type NotificationContacts,
  type Person,
  type QueuedNotification,
  type ReplayRecord,
  withChannel
} from "@workshop/core/store"
import { ShopData } from "./ShopData.js"
import { ShopTurns } from "./ShopTurns.js"
import { WaitingNotifications } from "./WaitingNotifications.js"

/** All data of the memory store. It is lost when the layer that made it closes. */
export class Memory {
  /** Whether a sandbox created the data, so that it may be cleared (Specification, Keys and scopes). */
  isSandboxMade = false
  /** Whether a caller has claimed the right to open the first shop. */
  isFirstShopClaimed = false
  /** The data of each shop. */
  readonly shops = new Map<ShopId, ShopData>()
  /** The client accounts of all shops. */
  readonly accounts = new Map<ClientId, ClientAccount>()
  /** The same accounts, by their current phone number. */
  readonly holders = new Map<Phone, ClientAccount>()
  /** The shop and the id of each API key, by the key's hash. */
  readonly keyHashes = new Map<string, { readonly shop_id: ShopId; readonly id: KeyId }>()
  /** The shop of each offer. */
  readonly shopOfOffer = new Map<OfferId, ShopId>()
  /** The shop of each API key. */
  readonly shopOfKey = new Map<KeyId, ShopId>()
  /** The shops with due deliveries, in the order in which they are served. */
  readonly turns = new ShopTurns()
  /** The replays that are not finished, by id. */
  readonly openReplays = new Map<string, ReplayRecord>()
  /** The queue of notifications and notices, with their contents. */
  readonly notifications = new WaitingNotifications()
  /** The notifications of each client, in the order in which they were added. */
  readonly inboxes = new Map<ClientId, Array<NotificationRecord>>()
  /** The audit log, oldest entry first. */
  readonly audit: Array<AuditEntry> = []
  /** The persons whose erasure is in progress. */
  readonly erasures = new Map<ClientId, Person>()
  /** The offers to each phone number, in the order in which they were made. */
  readonly offersToPhone = new Map<Phone, Array<OfferId>>()
  /** Called with each account that was opened, changed or erased. */
  onAccount: (id: ClientId) => void = () => undefined
  /**
   * The open windows of rate limits, by policy and subject. Two maps are used, because a joined key would be a new text
   * to hash for every request.
   */
  readonly limitWindows = new Map<PolicyName, Map<string, LimitWindow>>()

  /** Adds a shop without data. */
  open(shop: ShopRecord): void {
    this.shops.set(shop.id, new ShopData(shop, this.accounts, this.holders))
  }

  /** Saves an account; null removes it. */
  putAccount(id: ClientId, account: ClientAccount | null): void {
    const previousAccount = this.accounts.get(id)
    if (previousAccount !== undefined) this.holders.delete(previousAccount.phone)
    this.accounts.delete(id)
    if (account !== null) {
      this.accounts.set(id, account)
      this.holders.set(account.phone, account)
    }
    this.onAccount(id)
  }

  /** Removes all data except the sandbox mark. Fibers that wait for deliveries continue to wait. */
  clear(): void {
    const { shops, accounts, holders, keyHashes, shopOfOffer, shopOfKey, openReplays, inboxes, erasures } = this
    const maps = [shops, accounts, holders, keyHashes, shopOfOffer, shopOfKey, openReplays, inboxes, erasures]
    for (const map of [...maps, this.offersToPhone, this.limitWindows]) map.clear()
    this.audit.length = 0
    this.turns.clear()
    this.notifications.clear()
  }

  /** Returns the data of a shop. Throws `ShopNotFound` if the shop does not exist. */
  dataOf(shop_id: ShopId): ShopData {
    const data = this.shops.get(shop_id)
    if (data === undefined) throw new ShopNotFound()
    return data
  }

  /** Applies a change to its shop's data and to the data that belongs to no shop. */
  applyChange(data: ShopData, change: Change): void {
    if (change._tag === "OfferRemoved") this.#withdraw(data.state.offers.get(change.row.id))
    data.applyAndIndex(change)
    const shop_id = data.state.shop.id
    switch (change._tag) {
      case "KeyPut":
        this.shopOfKey.set(change.row.id, shop_id)
        this.keyHashes.set(change.row.hash, { shop_id, id: change.row.id })
        return
      case "OfferPut":
        if (!this.shopOfOffer.has(change.row.id)) this.#offer(change.row.phone, change.row.id)
        this.shopOfOffer.set(change.row.id, shop_id)
        return
      case "WebhookPut":
      case "WebhookRemoved":
      case "DeliveryPut":
      case "DeliveryRemoved":
        this.turns.schedule(shop_id, data.queue.next())
        return
      case "ReplayPut":
        if (change.row.is_done) this.openReplays.delete(change.row.id)
        else this.openReplays.set(change.row.id, change.row)
        this.turns.wake()
        return
      case "NotificationAppended":
        if (change.row.client_id !== null) this.#inbox(change.row.client_id).push(change.row)
        this.notifications.payloads.set(change.row.id, change.row)
        return
      case "NotificationRemoved": {
        const { id, client_id } = change.row
        this.notifications.payloads.delete(id)
        if (client_id === null) return
        this.inboxes.set(
          client_id,
          this.#inbox(client_id).filter((notification) => notification.id !== id)
        )
        return
      }
      case "AuditAppended":
        this.audit.push(change.row)
        return
      case "NoticeAppended":
        this.notifications.payloads.set(change.row.id, change.row)
        return
      case "QueuedNotificationPut":
        this.notifications.put(change.row)
        return
      case "QueuedNotificationRemoved":
        this.notifications.remove(change.row.id)
        return
    }
  }

  /** The current data that decide to which number a notification goes. */
  contactsOf(record: NotificationRecord): NotificationContacts {
    const { client_id, shop_id, ticket_id } = record
    const { state } = this.dataOf(shop_id)
    const account = client_id === null ? undefined : this.accounts.get(client_id)
    const ticket_phone = state.tickets.get(ticket_id)?.client_phone ?? null
    const holder = ticket_phone === null ? undefined : this.holders.get(ticket_phone)
    const holder_link = holder === undefined ? undefined : state.links.get(holder.id)
    return { account_phone: account?.phone ?? null, ticket_phone, holder_link: holder_link ?? null }
  }

  /** Adds the content and the current phone number to queued notifications and notices. */
  contentsOf(rows: ReadonlyArray<QueuedNotification>): ReadonlyArray<DueNotification> {
    return rows.map((row) => {
      const payload = this.notifications.payloads.get(row.id)
      const sent =
        row.receiver === "client" &&
        withChannel(payload as NotificationRecord, this.contactsOf(payload as NotificationRecord))
      return { ...row, payload: sent === false ? payload : sent } as DueNotification
    })
  }

  /** The offers made to a phone number, oldest first. */
  offers(phone: Phone): ReadonlyArray<OfferRecord> {
    const ids = this.offersToPhone.get(phone) ?? []
    return ids.map((id) => this.dataOf(this.shopOfOffer.get(id)!).state.offers.get(id)!)
  }

  #offer(phone: Phone, id: OfferId): void {
    const offers = this.offersToPhone.get(phone)
    if (offers === undefined) this.offersToPhone.set(phone, [id])
    else offers.push(id)
  }

  #withdraw(offer: OfferRecord | undefined): void {
    if (offer === undefined) return
    const { id, phone } = offer
    const remainingOffers = (this.offersToPhone.get(phone) ?? []).filter((other) => other !== id)
    if (remainingOffers.length > 0) this.offersToPhone.set(phone, remainingOffers)
    else this.offersToPhone.delete(phone)
    this.shopOfOffer.delete(id)
  }

  #inbox(id: ClientId): Array<NotificationRecord> {
    const inbox = this.inboxes.get(id) ?? []
    this.inboxes.set(id, inbox)
    return inbox
  }
}
