import { hash } from 'node:crypto';
import type { ChoiceReason, Exchange, Group, Route, StickySettings } from '../../src/core/kernel/index.ts';
import type { Clock } from '../../src/plugin/index.ts';

/**
 * The first is drawn by weight, each further one among the remaining members, so that the requests of a failing target
 * spread over the others in proportion. @param random 0 ≤ x < 1
 */
export function* drawOrder({ members, weights }: Group, random: () => number): Generator<Route> {
  const left = members.flatMap((member, index) => {
    const weight = weights[index] ?? 0;
    return weight > 0 ? [{ member, weight }] : [];
  });
  while (left.length > 0) {
    const [drawn] = left.splice(draw(left, random()), 1);
    yield drawn!.member;
  }
}

function draw(from: readonly { readonly weight: number }[], at: number): number {
  const total = from.reduce((sum, { weight }) => sum + weight, 0);
  let threshold = at * total;
  for (const [index, { weight }] of from.entries()) {
    threshold -= weight;
    if (threshold < 0) return index;
  }
  // Rounding can leave `threshold` slightly above zero after the last member.
  return from.length - 1;
}

interface Order {
  readonly order: Iterable<Route>;
  /** Why the first member is tried; undefined when the group offers no choice. */
  readonly reason: ChoiceReason | undefined;
}

interface OrderTools {
  readonly clock: Pick<Clock, 'wall'>;
  readonly random: () => number;
}

export function orderOf(group: Group, exchange: Exchange, { clock, random }: OrderTools): Order {
  if (group.mode !== 'loadbalance')
    return { order: group.members, reason: group.members.length > 1 ? 'first' : undefined };
  const key = group.sticky && stickyKey(group.sticky, exchange);
  if (!group.sticky || !key) return { order: drawOrder(group, noting(exchange, random)), reason: 'weight' };
  return { order: stickyOrder(group, group.sticky, key, clock.wall()), reason: 'sticky' };
}

/** The record of a request has its draws: with them the same request can be tried with other settings. */
const noting = (exchange: Exchange, random: () => number) => (): number => {
  const drawn = random();
  (exchange.draws ??= []).push(drawn);
  return drawn;
};

/** Hash of the values that keep requests together; undefined for a request without any of the fields. */
export function stickyKey({ fields }: StickySettings, exchange: Exchange): Buffer | undefined {
  // SDKs write a field that is not set as null.
  const values = fields.map((read) => read(exchange) ?? undefined);
  // JSON distinguishes a missing value and a value that contains the separator; joined text would not.
  return values.every((value) => value === undefined) ? undefined : digest(JSON.stringify(values));
}

/**
 * Weighted rendezvous hashing (Schindelhauer and Schomaker, "Weighted Distributed Hash Tables", 2005): removing a
 * member moves only its own keys, and every process computes the same order. @param wallMs milliseconds since 1970
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

/** Do not depend on positions, so that removing a target does not change the others. Identical members are numbered. */
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
