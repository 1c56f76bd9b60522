import { isObject, nearest } from '../../kernel/index.ts';
import type { Problem } from '../../kernel/report.ts';
import { alternatives, showValue, type ValueOrigin } from './show.ts';
import { toPointer } from '../schema/pointer.ts';
import type { Schema, SchemaTree } from '../schema/schema-files.ts';
import type { Values } from './values.ts';

/** Values of `credentials` of Vertex AI that name no shared credentials. */
const GOOGLES_OWN = ['application-default', 'metadata-server'];

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

interface SharingSetup {
  readonly root: readonly Schema[];
  readonly tree: SchemaTree;
  /** Names that entries of the state store have. */
  readonly usedElsewhere?: readonly unknown[] | undefined;
}

/**
 * Replaces `credentials: NAME` of each entry of catalog.yaml by the field of these credentials, before the file is
 * validated: an entry is valid with shared credentials if it is valid with the same ones of its own. The origins are copied
 * too, so that each copy is a secret.
 */
export function shareCredentials(
  values: Values,
  { root, tree, usedElsewhere = [] }: SharingSetup,
): { values: Values; problems: readonly Problem[] } {
  const { json } = values;
  if (!isObject(json) || !Array.isArray(json['providers'])) return { values, problems: [] };
  const shared = isObject(json['credentials']) ? json['credentials'] : {};
  const problems: Problem[] = [];
  const origins = new Map(values.origins);
  const used = new Set<unknown>(usedElsewhere);
  const entrySchemas = tree.child(tree.child(root, 'providers'), 0);
  const takes = (provider: unknown, field: string): boolean =>
    tree.child(entrySchemas, field, (property) => (property === 'provider' ? provider : undefined)).length > 0;

  const providers = json['providers'].map((entry: unknown, index) => {
    if (!isObject(entry) || typeof entry['credentials'] !== 'string') return entry;
    const { credentials: name, ...rest } = entry;
    const { provider } = rest;
    const path = ['providers', index, 'credentials'];
    if (values.origins.get(toPointer(path))?.unresolved || !takes(provider, 'credentials')) return entry;
    if (provider === 'vertex-ai' && GOOGLES_OWN.includes(name)) return entry;
    const found = Object.hasOwn(shared, name) ? shared[name] : undefined;
    if (found === undefined) {
      problems.push({ path, ...unknownName(name, Object.keys(shared), provider, values.origins.get(toPointer(path))) });
      return entry;
    }
    used.add(name);
    const [field, ...others] = isObject(found) ? Object.keys(found) : [];
    // Validation reports both: shared credentials of another form, and an entry that has credentials of its own.
    if (!isObject(found) || field === undefined || others.length > 0 || hasOwn(rest)) return entry;
    if (!takes(provider, field)) {
      const message = `\`${name}\` is a \`${field}\`, which an entry of ${String(provider)} does not take`;
      problems.push({ path, message });
      return entry;
    }
    copyOrigins(origins, toPointer(['credentials', name, field]), toPointer(['providers', index, field]));
    return { ...rest, [field]: found[field] };
  });
  problems.push(...checkNames(shared, used));
  return { values: { ...values, json: { ...json, providers }, origins }, problems };
}

const hasOwn = (entry: Readonly<Record<string, unknown>>): boolean =>
  ['api_key', 'service_account', 'credentials_json'].some((field) => Object.hasOwn(entry, field));

function unknownName(
  name: string,
  names: readonly string[],
  provider: unknown,
  origin: ValueOrigin | undefined,
): Omit<Problem, 'path'> {
  const own = provider === 'vertex-ai' ? GOOGLES_OWN : [];
  const allowed = [...own, 'a name in `credentials` of catalog.yaml'];
  // The text may be a credential under the wrong key.
  const message = `\`credentials\` must be ${alternatives(allowed)}, not ${showValue(name, origin)}`;
  if (origin && origin.sources.length > 0) return { message };
  const suggestion = nearest(name, [...names, ...own]);
  return { message, ...(suggestion !== undefined && { suggestion }) };
}

const checkNames = (shared: object, used: ReadonlySet<unknown>): readonly Problem[] =>
  Object.keys(shared).flatMap((name): Problem[] => {
    const place = { path: ['credentials', name], on: 'key' } as const;
    if (GOOGLES_OWN.includes(name))
      return [{ ...place, message: `\`${name}\` is a value of \`credentials\` of Vertex AI: choose another name` }];
    if (!NAME.test(name))
      return [{ ...place, message: 'a name has letters, digits, `.`, `_` and `-`, and at most 64 characters' }];
    return used.has(name) ? [] : [{ ...place, severity: 'warning', message: 'no entry uses these credentials' }];
  });

/** Copies the origin of a value and of everything inside it. */
function copyOrigins(origins: Map<string, ValueOrigin>, from: string, to: string): void {
  const copies = [...origins].flatMap(([pointer, origin]) =>
    pointer === from || pointer.startsWith(`${from}/`) ? [[to + pointer.slice(from.length), origin] as const] : [],
  );
  for (const [pointer, origin] of copies) origins.set(pointer, origin);
}
