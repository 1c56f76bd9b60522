import { type Schema, type SchemaTree } from '../../src/core/settings/schema/schema-files.ts';
import { isObject } from '../../src/core/kernel/index.ts';

/** Returns a whole number, 0 ≤ n < `below`. */
export type Draw = (below: number) => number;

/** Numbers drawn from a seed (mulberry32). */
export function drawFrom(seed: number): Draw {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const STRAY: readonly unknown[] = [null, true, 0, -1, 1.5, '', 'x', '30s', 'a b', [], ['x', 'x'], {}, { x: 1 }];
const MAX_DEPTH = 8;

/** A value that the schema's author may have meant: most parts fit, some are stray, missing or unknown. */
export function anyValueOf(schema: Schema, tree: SchemaTree, draw: Draw, depth = 0): unknown {
  const oneOf = <T>(list: readonly T[]): T => list[draw(list.length)]!;
  if (draw(25) === 0 || depth > MAX_DEPTH) return oneOf(STRAY);
  const own = oneOf(tree.alternatives(schema));
  const inner = (one: unknown): unknown => (isObject(one) ? anyValueOf(one, tree, draw, depth + 1) : oneOf(STRAY));
  if ('const' in own) return own['const'];
  if (Array.isArray(own['enum'])) return oneOf<unknown>(own['enum']);
  if (Array.isArray(own['examples']) && draw(4) > 0) return oneOf<unknown>(own['examples']);
  if (isObject(own['properties']) || isObject(own['additionalProperties'])) return anyObjectOf(own, inner, draw);
  switch ([own['type']].flat().includes('array') && isObject(own['items']) ? 'array' : oneOf([own['type']].flat())) {
    case 'array':
      return Array.from({ length: draw(4) }, () => inner(own['items']));
    case 'object':
      return draw(2) === 0 ? {} : { any: oneOf(STRAY) };
    case 'boolean':
      return draw(2) === 0;
    case 'integer':
    case 'number':
      return oneOf([0, 1, -1, 0.5, 7, 1e9, Number(own['minimum'] ?? 1) - 1, Number(own['maximum'] ?? 1) + 1]);
    case 'string':
      return oneOf([
        '',
        'a',
        'gpt-5',
        '30s',
        '@slug',
        'https://example.com',
        'x'.repeat(300),
        '\u{1F600}',
        '2027-01-01',
      ]);
    default:
      return oneOf(STRAY);
  }
}

function anyObjectOf(schema: Schema, inner: (one: unknown) => unknown, draw: Draw): Record<string, unknown> {
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  const required = [schema['required'] ?? []].flat();
  const often = required.length > 0 ? 6 : 3;
  const names = Object.keys(properties).filter((name) => (required.includes(name) ? draw(20) > 0 : draw(often) === 0));
  const further = draw(Object.keys(properties).length === 0 ? 2 : 8) === 0 ? [`x${draw(3)}`] : [];
  return Object.fromEntries([
    ...names.map((name) => [name, inner(properties[name])]),
    ...further.map((name) => [name, inner(schema['additionalProperties'])]),
  ]) as Record<string, unknown>;
}
