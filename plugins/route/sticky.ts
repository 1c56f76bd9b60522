import { hash } from 'node:crypto';
import type { Exchange, Group, Route, StickySettings } from '../../src/core/kernel/index.ts';

/** Hash of the values that keep requests together; undefined for a request without any of the fields. */
export function stickyKey({ fields }: StickySettings, exchange: Exchange): Buffer | undefined {
  // SDKs write a field that is not set as null.
  const values = fields.map((read) => read(exchange) ?? undefined);
  // JSON distinguishes a missing value and a value that contains the separator; joined text would not.
  return values.every((value) => value === undefined) ? undefined : digest(JSON.stringify(values));
}

/**
 * All members with a weight, ordered for this key by weighted rendezvous hashing (Schindelhauer and Schomaker,
 * "Weighted Distributed Hash Tables", 2005). Each member scores the key independently of the others, so that removing a
 * member moves only its own keys, and every process computes the same order without coordination.
 * @param wallMs milliseconds since 1970
 */
export function stickyOrder(group: Group, { ttlMs }: StickySettings, key: Buffer, wallMs: number): Route[] {
  // Every key has its own epoch boundary; otherwise all keys would move at once.
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
 * Identities of the members that do not depend on their position, so that removing a target does not change the others.
 * Identical members are numbered.
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
