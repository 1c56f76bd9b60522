import type { FieldTable } from '../../formats/fields/field-table.ts';
import { toCamel } from '../../formats/json/field-names.ts';
import { isObject } from '../../formats/json/object.ts';
import type { BodyFault } from '../kernel/index.ts';

type Check = (body: unknown) => BodyFault | undefined;

/**
 * Adds to a check of bodies in protobuf's JSON that no object has one field under both of its names
 * (docs/protocols/gemini.md#protobuf-json): the gateway would check or override one, and the upstream might read the other.
 */
export function withOneSpelling(check: Check, { freeMaps }: Pick<FieldTable, 'freeMaps'>): Check {
  const maps = new Set(freeMaps.map((path) => path.slice(path.lastIndexOf('.') + 1)));
  return (body) => check(body) ?? twiceIn(body, '', maps);
}

function twiceIn(value: unknown, path: string, maps: ReadonlySet<string>): BodyFault | undefined {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      const fault = typeof item === 'object' && twiceIn(item, `${path}[${index}]`, maps);
      if (fault) return fault;
    }
    return undefined;
  }
  if (!isObject(value)) return undefined;
  for (const key of Object.keys(value)) {
    const name = key.includes('_') ? toCamel(key) : key;
    const param = path === '' ? key : `${path}.${key}`;
    if (name !== key && Object.hasOwn(value, name)) {
      const message = `\`${param}\` and \`${name}\` are the same field: write one of them.`;
      return { message, param, missing: false };
    }
    const inner = value[key];
    const fault = typeof inner === 'object' && !maps.has(name) && twiceIn(inner, param, maps);
    if (fault) return fault;
  }
  return undefined;
}
