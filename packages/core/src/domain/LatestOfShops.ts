import type { ShopId } from "./Identifier.js"
import { Limits } from "./Limits.js"

/**
 * The latest rows of each shop, at most `client_list_of_shop_max` of them, in the order given, which is that of their age. So a
 * shop that offers or tells a client much fills neither the client's lists nor the process that reads them.
 */
export const latestOfShops = <Row extends { readonly shop_id: ShopId }>(
  rows: ReadonlyArray<Row>
): ReadonlyArray<Row> => {
  const counts = new Map<ShopId, number>()
  return rows
    .toReversed()
    .filter(({ shop_id }) => {
      const count = (counts.get(shop_id) ?? 0) + 1
      counts.set(shop_id, count)
      return count <= Limits.client_list_of_shop_max
    })
    .reverse()
}
