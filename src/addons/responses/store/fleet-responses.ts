import type { KeptNames, KeptResponse, NewResponse } from '../../../core/kernel/index.ts';
import { sizeOf } from '../../../core/memory/kept-size.ts';
import type { ResponseLimits, ResponseStore } from '../../../core/memory/ports.ts';
import type { OwnedValues } from '../../../core/ports/fleet-memory.ts';
import { familyOf, itemsIn } from './response-places.ts';

/** Bytes of the length of a response, in front of it. Its input is behind it. */
const LENGTH_BYTES = 4;

/** Where an item is: in a response of known items, or among those of a family. */
interface ItemPlace {
  readonly response: string;
  readonly from?: number;
  readonly to?: number;
}

/** Responses that any of several gateways continues. All methods reject while the values cannot be read. */
export class FleetResponses implements ResponseStore {
  readonly #values: OwnedValues;
  #limits: ResponseLimits = { maxBytes: 0, ttlMs: 0 };

  constructor(values: OwnedValues) {
    this.#values = values;
  }

  apply(limits: ResponseLimits): void {
    this.#limits = limits;
  }

  async measure(owner: string, { response, items }: KeptNames): Promise<number> {
    const read = new Set([...(await this.#placesOf(owner, items)).values()].map((place) => place.response));
    const names = [...(response === undefined ? [] : [response]), ...read].map(nameOf);
    return (await this.#values.sizes(owner, names)).reduce((sum, size) => sum + size, 0);
  }

  async find(owner: string, id: string): Promise<KeptResponse | undefined> {
    const [bytes] = await this.#values.find(owner, [nameOf(id)]);
    return bytes && { id, ...partsOf(bytes) };
  }

  async findItems(owner: string, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const places = await this.#placesOf(owner, ids);
    const names = [...new Set([...places.values()].map(({ response }) => response))];
    const values = await this.#values.find(owner, names.map(nameOf));
    const responses = new Map(
      names.flatMap((name, at) => (values[at] ? [[name, partsOf(values[at]).response] as const] : [])),
    );
    const families = new Map<string, ReadonlyMap<string, { readonly from: number; readonly to: number }>>();
    const found = new Map<string, string>();
    for (const [id, { response: name, from, to }] of places) {
      const response = responses.get(name);
      if (!response) continue;
      if (from === undefined && !families.has(name))
        families.set(name, new Map(itemsIn(response).map((item) => [item.id, item])));
      const span = from === undefined || to === undefined ? families.get(name)?.get(id) : { from, to };
      if (span) found.set(id, response.toString('utf8', span.from, span.to));
    }
    return found;
  }

  async keep(owner: string, kept: NewResponse): Promise<void> {
    const { maxBytes, ttlMs } = this.#limits;
    if (sizeOf(kept) > maxBytes) return;
    const { id, response, input, items } = kept;
    const length = Buffer.alloc(LENGTH_BYTES);
    length.writeUInt32BE(response.length);
    const places = items
      ? items.map((item) => [itemName(item.id), { response: id, from: item.from, to: item.to }] as const)
      : [[familyName(id), { response: id }] as const];
    const also = new Map(places.map(([name, place]) => [name, Buffer.from(JSON.stringify(place))]));
    const value = { name: nameOf(id), bytes: Buffer.concat([length, response, input]), ttlMs, maxBytes };
    await this.#values.keep(owner, value, also);
  }

  remove(owner: string, id: string): Promise<boolean> {
    return this.#values.remove(owner, nameOf(id));
  }

  async #placesOf(owner: string, ids: readonly string[]): Promise<ReadonlyMap<string, ItemPlace>> {
    if (ids.length === 0) return new Map();
    const names = [...new Set(ids.flatMap((id) => [itemName(id), familyName(id)]))];
    const values = await this.#values.find(owner, names);
    const known = new Map(names.map((name, at) => [name, values[at]]));
    return new Map(
      ids.flatMap((id) => {
        const place = known.get(itemName(id)) ?? known.get(familyName(id));
        return place ? [[id, JSON.parse(place.toString()) as ItemPlace] as const] : [];
      }),
    );
  }
}

const nameOf = (id: string): string => `response ${id}`;
const itemName = (id: string): string => `item ${id}`;

function familyName(id: string): string {
  const { from, to } = familyOf(id);
  return `family ${id.slice(from, to)}`;
}

function partsOf(bytes: Buffer): Pick<KeptResponse, 'response' | 'input'> {
  const end = LENGTH_BYTES + bytes.readUInt32BE();
  return { response: bytes.subarray(LENGTH_BYTES, end), input: bytes.subarray(end) };
}
