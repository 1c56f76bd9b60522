import type { ParameterApi } from '../../../formats/fields/field-table.ts';
import { isObject } from '../../../formats/json/object.ts';
import { applyEdit } from '../../../formats/json/edits.ts';
import type { Edit } from '../../../plugin/request.ts';
import type { RequestBody } from './request-body.ts';

/** Parameters of a config that are written for another API than that of the request. */
interface ForeignParams {
  /** The request without them. */
  readonly body: RequestBody;
  /** The parameters of each API, as fields of a body of that API. */
  readonly byApi: ReadonlyMap<ParameterApi, Readonly<Record<string, unknown>>>;
}

/** Undefined for a body without such parameters, which is nearly every one. */
export function foreignParams(body: RequestBody): ForeignParams | undefined {
  if (!body.edits.some(({ of }) => of !== undefined)) return undefined;
  const byApi = new Map<ParameterApi, Record<string, unknown>>();
  const left = new Map<string, unknown>();
  for (const { of, path, value: set } of body.edits) {
    const [key = '', ...inner] = path;
    if (of === undefined || !body.has(key)) continue;
    const value = valueAt(body, path);
    // A value at the place of a deleted parameter is a field of the request.
    if (set === undefined && value !== undefined) continue;
    if (value !== undefined) byApi.set(of, applyEdit(byApi.get(of) ?? {}, { path, value }));
    left.set(key, without(left.has(key) ? left.get(key) : body.value(key), inner));
  }
  const edits = [...left].map(([key, value]): Edit => ({ path: [key], value, source: 'gateway' }));
  return { body: body.edit(edits), byApi };
}

/** The value without one field, and without objects that become empty by this. */
function without(value: unknown, [key, ...inner]: readonly string[]): unknown {
  if (key === undefined) return undefined;
  if (!isObject(value)) return value;
  const { [key]: field, ...others } = value;
  const kept = without(field, inner);
  if (kept !== undefined) return { ...value, [key]: kept };
  return Object.keys(others).length > 0 ? others : undefined;
}

function valueAt(body: RequestBody, [key = '', ...inner]: readonly string[]): unknown {
  let value = body.has(key) ? body.value(key) : undefined;
  for (const name of inner) value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return value;
}
