import type { Draft, DraftPart } from './draft.ts';
import { KEY, TEAM } from './litellm-reasons.ts';
import { defined, freeName, nameOf } from './names.ts';
import { partOf } from '../../core/catalog/access.ts';
import { AliasNames } from '../../core/catalog/aliases.ts';
import { isObject } from '../../formats/json/object.ts';
import { matches } from '../../core/catalog/globs.ts';
import type { ForeignItem } from './source.ts';
import { budgetsOf, limitsOf } from './spending.ts';

export interface Team {
  readonly id: string;
  /** Models that its keys may use. Undefined: all. */
  readonly models: readonly string[] | undefined;
  readonly blocked: boolean;
}

/** By the ids of the file. */
type Teams = ReadonlyMap<string, Team>;

/** @param teams filled */
export function importTeams(items: readonly ForeignItem[], draft: Draft, teams: Map<string, Team>): void {
  for (const item of items) {
    const written = item.get('team_id')?.text();
    const id = free(draft.teams, nameOf(item.get('team_alias')?.text() ?? written ?? 'team'));
    const blocked = item.get('blocked')?.value === true;
    if (blocked) item.lose('is blocked: its keys are not imported', 'guard');
    if (written !== undefined) teams.set(written, { id, models: modelsOf(item.get('models'), draft), blocked });
    draft.teams[id] = defined({
      budgets: budgetsOf(item),
      limits: limitsOf(item),
      metadata: metadataOf(item.get('metadata')),
    });
    item.rest(TEAM);
  }
}

export function importKeys(items: readonly ForeignItem[], draft: Draft, teams: Teams): void {
  const taken: Record<string, DraftPart> = Object.fromEntries(draft.keys.map((key) => [String(key['id']), key]));
  for (const item of items) {
    const key = keyOf(item, draft, teams, taken);
    if (!key) continue;
    taken[String(key['id'])] = key;
    draft.keys.push(key);
  }
}

function keyOf(item: ForeignItem, draft: Draft, teams: Teams, taken: DraftPart): DraftPart | undefined {
  const names = [item.get('key_alias'), item.get('key_name')].map((one) => one?.text());
  const id = free(taken, nameOf(names[0] ?? names[1] ?? 'key'));
  const written = item.get('team_id')?.text();
  const team = written === undefined ? undefined : teams.get(written);
  if (item.get('blocked')?.value === true || team?.blocked === true)
    return item.lose('is blocked, or its team is: it is not imported', 'guard');
  const credential = credentialOf(item, draft, id);
  if (!credential) return undefined;
  if (written !== undefined && team === undefined)
    item
      .get('team_id')
      ?.lose('names a team that is in none of the files: its models, limits and budgets do not hold', 'guard');
  const ends = item.get('expires');
  const expiresAt = ends && expiryOf(ends);
  if (ends && expiresAt === undefined)
    return ends.lose('is no time, and a key without its end would be valid for ever: the key is not imported', 'guard');
  const models = allowed(item.get('models'), team, draft);
  if (models?.length === 0) return item.lose('has no model that its team may use, too: it is not imported', 'guard');
  const key = defined({
    id,
    ...credential,
    expires_at: expiresAt,
    models,
    team: team?.id,
    owner: item.get('user_id')?.text(),
    metadata: metadataOf(item.get('metadata')),
    budgets: budgetsOf(item),
    limits: limitsOf(item),
  });
  item.rest(KEY);
  return key;
}

/** LiteLLM keeps a key as its SHA-256, as keys.yaml does: callers keep their keys. */
function credentialOf(item: ForeignItem, draft: Draft, id: string): DraftPart | undefined {
  const token = item.get('token') ?? item.get('key');
  const text = token?.text();
  if (!token || text === undefined) return item.lose('has no token: the key is not imported', 'guard');
  if (/^[0-9a-f]{64}$/.test(text)) return { digest: `sha256:${text}` };
  return { key: draft.secret(token, `${id}_KEY`, `the key ${id}`) };
}

/** Undefined: the value is no time. */
function expiryOf({ value }: ForeignItem): string | undefined {
  const time = typeof value === 'string' ? Date.parse(value) : NaN;
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
}

/** A key without a list has that of its team. LiteLLM checks both lists: a key uses what its team may use, too. */
function allowed(item: ForeignItem | undefined, team: Team | undefined, draft: Draft): readonly string[] | undefined {
  const names = item?.items().map(({ value }) => value) ?? [];
  if (names.length === 0 || names.includes('all-team-models')) return team?.models;
  const own = modelsOf(item, draft);
  if (!own || !team?.models) return own ?? team?.models;
  const isWithin = (name: string, patterns: readonly string[]): boolean =>
    patterns.some((pattern) => matches(pattern, name));
  const ofTeam = team.models;
  const left = own.filter((name) => !isWithin(name, ofTeam));
  if (left.length > 0) item?.lose(`has models that its team may not use: ${left.join(', ')}`, 'check');
  return [
    ...new Set([...own.filter((name) => isWithin(name, ofTeam)), ...ofTeam.filter((name) => isWithin(name, own))]),
  ];
}

/** Undefined: all models. */
function modelsOf(item: ForeignItem | undefined, draft: Draft): readonly string[] | undefined {
  const items = item?.items() ?? [];
  if (items.length === 0 || items.some(({ value }) => value === 'all-proxy-models' || value === '*')) return undefined;
  return items.flatMap((one) => {
    const name = one.text();
    if (name !== undefined && new AliasNames(Object.entries(draft.aliases)).find(name) === undefined)
      one.lose('is not in model_list; it is listed all the same');
    else if (name !== undefined && hidesAliases(name, draft))
      one.lose('is a pattern that lists no other alias: list each name that it fits', 'guard');
    return name ?? [];
  });
}

/** A pattern allows names of the wildcard that it is a part of, and no other alias. */
function hidesAliases(name: string, { aliases }: Draft): boolean {
  if (!name.includes('*') || Object.hasOwn(aliases, name)) return false;
  const names = new AliasNames(Object.entries(aliases));
  return partOf(name, names) === undefined || Object.keys(aliases).some((alias) => matches(name, alias));
}

/** Metadata are short texts here. */
export function metadataOf(item: ForeignItem | undefined): DraftPart | undefined {
  const entries = (item?.entries() ?? []).flatMap(([name, one]): [string, string][] => {
    const { value } = one;
    if (isObject(value) || Array.isArray(value) || String(value) === '' || String(value).length > 128) {
      one.lose('metadata are texts of at most 128 characters', 'check');
      return [];
    }
    return [[name, String(value)]];
  });
  return entries.length > 0 ? Object.fromEntries(entries.slice(0, 16)) : undefined;
}

const free = (taken: Readonly<Record<string, unknown>>, wanted: string): string =>
  freeName(wanted, (id) => Object.hasOwn(taken, id));
