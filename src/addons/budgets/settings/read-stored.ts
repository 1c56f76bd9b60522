import type { ErrorObject } from 'ajv';
import type { GatewayKey, KeysFile, PricesFile, Team, TeamsFile } from '../../../../schemas/types.generated.ts';
import type { Entity } from '../../../core/ports/entities.ts';
import type { Problem, Report } from '../../../core/kernel/report.ts';
import { checkKeys, checkTeams } from '../../../core/settings/checks/keys.ts';
import { checkNetworks } from '../../../core/settings/checks/hosts.ts';
import { checkBudgets } from './check-budgets.ts';
import { checkRule } from './check-prices.ts';
import type { CheckedSettings } from '../../../core/settings/checks/check.ts';
import { packageSchemas, type Schemas } from '../../../core/settings/schema/schemas.ts';
import {
  SEALED_OF_ALERTS,
  STORED_KINDS,
  type StoredDigest,
  type StoredKind,
  type StoredObject,
} from '../../../core/settings/source/stored-objects.ts';

export interface StoredEntity {
  readonly kind: string;
  readonly id: string;
  readonly doc: Readonly<Record<string, unknown>>;
  readonly digests: readonly StoredDigest[];
  readonly sealed?: readonly string[];
  readonly version: number;
  readonly updatedBy: string;
  readonly updatedAt: number;
}

/** Undefined: settings do not consist of this kind. */
export function readStored({
  kind,
  id,
  doc,
  digests,
  sealed = [],
  version,
  updatedBy: by,
  updatedAt: at,
}: StoredEntity): StoredObject | undefined {
  if (!isStoredKind(kind)) return undefined;
  const problem = problemOf(kind, id, doc);
  const own = { id, by, at, version, ...(problem !== undefined && { problem }) };
  // The schema of its kind has just been applied to the document.
  const value: Readonly<Record<string, unknown>> = problem === undefined ? doc : {};
  if (kind === 'keys') return { ...own, kind, value: { entry: { ...value, id }, digests } };
  if (kind === 'budgets' || kind === 'limits') return { ...own, kind, value: { node: nodeOf(doc), ...value } as never };
  if (kind === 'configs') return { ...own, kind, value: { text: problem === undefined ? String(doc['text']) : '' } };
  // `unsealed` adds the secrets.
  if (kind === 'providers') return { ...own, kind, value: { doc: value, secrets: {}, unread: sealed } };
  return { ...own, kind, value } as StoredObject;
}

const isStoredKind = (kind: string): kind is StoredKind => (STORED_KINDS as readonly string[]).includes(kind);

const nodeOf = ({ node }: StoredEntity['doc']): string => (typeof node === 'string' ? node : '');

/** The `node` of budgets and limits: kind and id of an organization, team or key. */
const NODE_REF = /^(?:organization|team|key):[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/**
 * Why a document is not valid for its kind; undefined: it is. Documents of keys, teams and organizations are the entries of keys.yaml
 * and teams.yaml without their ids; those of budgets and limits have a `node` too; those of prices are rules of prices.yaml, those of alerts
 * webhooks of server.yaml without what is sealed. What a document refers to may be missing: it may come or go at any time.
 */
export function problemOf(kind: StoredKind, id: string, doc: StoredEntity['doc']): string | undefined {
  const schemas = packageSchemas();
  switch (kind) {
    case 'keys':
      return problemOfKey(schemas, { ...doc, id });
    case 'organizations':
    case 'teams':
      return problemOfNode(schemas, kind, id, doc);
    case 'prices':
      return problemOfPrice(schemas, { ...doc, id });
    case 'alerts':
      return problemOfAlert(schemas, { ...doc, id });
    case 'providers':
    case 'prompts':
      // The loader of the settings applies the schema: that of an entry is for one with its secrets.
      return undefined;
    case 'configs':
      return typeof doc['text'] === 'string' && CONFIG_ID.test(id)
        ? undefined
        : '`text` is the text of a file, and the id is that of one';
    case 'budgets':
    case 'limits': {
      const { node, ...rest } = doc;
      if (typeof node !== 'string' || !NODE_REF.test(node))
        return '`node` names an organization, a team or a key, such as team:search';
      return problemOfNode(schemas, 'teams', 'node', kind === 'budgets' ? { budgets: [rest] } : { limits: rest });
    }
  }
}

/** As file names of gateway/. */
const CONFIG_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Any digest: those of a store are beside the document. */
const DIGEST = `sha256:${'0'.repeat(64)}`;

function problemOfKey(schemas: Schemas, doc: Readonly<Record<string, unknown>>): string | undefined {
  for (const name of ['digest', 'key', 'previous'])
    if (Object.hasOwn(doc, name)) return `\`${name}\` is no field of a key in a store`;
  const file = { keys: [{ ...doc, digest: DIGEST }] };
  const [broken] = schemas.validate('keys', file);
  if (broken) return wordsOf(broken);
  const [key] = (file as unknown as KeysFile).keys as [GatewayKey];
  const configIds = [...(key.configs ?? []), ...(key.default_config === undefined ? [] : [key.default_config])];
  return firstError((report) => {
    for (const check of [checkKeys, checkTeams, checkBudgets, checkNetworks])
      check({ ...NOTHING, configIds }).key?.(key, report);
  });
}

function problemOfNode(
  schemas: Schemas,
  kind: 'organizations' | 'teams',
  id: string,
  doc: Readonly<Record<string, unknown>>,
): string | undefined {
  const file = { [kind]: { [id]: doc } };
  const [broken] = schemas.validate('teams', file);
  if (broken) return wordsOf(broken);
  const { organization: _, ...node } = (file as unknown as Required<TeamsFile>)[kind][id] as Team;
  return firstError((report) => checkBudgets(NOTHING).organization?.(node, report));
}

function problemOfPrice(schemas: Schemas, doc: Readonly<Record<string, unknown>>): string | undefined {
  const file = { prices: [doc] };
  const [broken] = schemas.validate('prices', file);
  if (broken) return wordsOf(broken);
  const [rule] = (file as unknown as PricesFile).prices;
  return firstError((report) => checkRule(rule!, NOTHING, report));
}

function problemOfAlert(schemas: Schemas, doc: Readonly<Record<string, unknown>>): string | undefined {
  for (const name of SEALED_OF_ALERTS) if (Object.hasOwn(doc, name)) return `\`${name}\` is sealed beside the document`;
  const webhooks = [{ ...doc, ...Object.fromEntries(SEALED_OF_ALERTS.map((name) => [name, 'sealed'])) }];
  const [broken] = schemas.validate('server', { alerts: { webhooks } });
  return broken && wordsOf(broken);
}

const wordsOf = ({ instancePath, message = 'is not valid' }: ErrorObject): string =>
  `${instancePath.split('/').slice(3).join('.')} ${message}`.trim();

const NOTHING: CheckedSettings = {
  server: undefined,
  catalog: undefined,
  keys: undefined,
  gateway: new Map(),
  configIds: [],
  now: 0,
};

function firstError(check: (report: Report) => void): string | undefined {
  const problems: Problem[] = [];
  check((problem) => void problems.push(problem));
  const first = problems.find(({ severity }) => severity !== 'warning');
  return first && `${first.path.length > 0 ? `${first.path.join('.')}: ` : ''}${first.message}`;
}

/** Objects that are read and checked without a pause, 10 µs each (measured). */
const SLICE = 200;

/** The objects of which settings consist, those first to which others refer. Yields the event loop between slices. */
export async function readEntities(entities: readonly Entity[]): Promise<StoredObject[]> {
  const order = new Map<string, number>(STORED_KINDS.map((kind, index) => [kind, index]));
  const sorted = entities
    .filter(({ kind }) => order.has(kind))
    .toSorted((one, other) => order.get(one.kind)! - order.get(other.kind)!);
  const objects: StoredObject[] = [];
  for (const [index, entity] of sorted.entries()) {
    if (index > 0 && index % SLICE === 0) await nextTurn();
    const object = readStored(entity);
    if (object) objects.push(object);
  }
  return objects;
}

export const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
