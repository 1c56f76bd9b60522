import { hash } from 'node:crypto';
import type { Exchange, Group, HashField, Route, StickySettings } from '../../src/plugin/index.ts';

/** What requests are kept together by, as a hash; undefined where a request has none of the fields. */
export function stickyKey({ fields }: StickySettings, exchange: Exchange): Buffer | undefined {
  const values = fields.map((field) => valueOf(field, exchange));
  // JSON keeps apart what joined text would not: a missing part, and values that hold the separator.
  return values.every((value) => value === undefined) ? undefined : digest(JSON.stringify(values));
}

function valueOf(field: HashField, { caller, metadata, request }: Exchange): string | undefined {
  if (field === 'caller') return caller?.keyId;
  if ('metadata' in field) return Object.hasOwn(metadata, field.metadata) ? metadata[field.metadata] : undefined;
  const value = request.headers[field.header];
  return Array.isArray(value) ? value.join(', ') : value;
}

/**
 * All members with a weight, the one that this key belongs to first: weighted rendezvous hashing (Schindelhauer and Schomaker,
 * "Weighted Distributed Hash Tables", 2005). Each member draws a number for the key, and none looks at the others, so a member
 * that goes takes only its own keys along, and every process comes to the same order without a word between them.
 * @param wallMs milliseconds since 1970
 */
export function stickyOrder(group: Group, { ttlMs }: StickySettings, key: Buffer, wallMs: number): Route[] {
  // Every key begins its time at a moment of its own, or all would move at once.
  const epoch = Math.floor(wallMs / ttlMs + uniform(key));
  const seed = `${key.toString('base64')} ${epoch} `;
  return identities(group)
    .flatMap((identity, index) => {
      const weight = group.weights[index] ?? 0;
      return weight > 0 ? [{ index, score: weight / -Math.log(uniform(digest(seed + identity))) }] : [];
    })
    .toSorted((one, other) => other.score - one.score || one.index - other.index)
    .map(({ index }) => group.members[index]!);
}

const digest = (text: string): Buffer => hash('sha256', text, 'buffer');

/** 0 < x < 1, from the first 48 bits. */
const uniform = (bytes: Buffer): number => (bytes.readUIntBE(0, 6) + 0.5) / 2 ** 48;

const known = new WeakMap<Group, readonly string[]>();

/**
 * Who the members are, whatever their place in the list: a target that is taken out must not make others of those behind it.
 * Members that are the same in this are told apart by counting.
 */
function identities(group: Group): readonly string[] {
  let names = known.get(group);
  if (!names) {
    const all = group.members.map(identityOf);
    names = all.map((name, index) => `${name} ${all.slice(0, index).filter((earlier) => earlier === name).length}`);
    known.set(group, names);
  }
  return names;
}

function identityOf(route: Route): string {
  if (route.kind !== 'target') return `[${route.members.map(identityOf).join()}]`;
  return JSON.stringify([route.provider, route.overrideParams?.['model'], route.defaultParams?.['model']]);
}
