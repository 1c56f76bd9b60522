import type { Draft, DraftPart } from './draft.ts';
import { KEY, TEAM } from './litellm-reasons.ts';
import { defined, freeName, literal, nameOf } from './names.ts';
import { isObject } from '../../formats/json/object.ts';
import type { ForeignItem } from './source.ts';
import { budgetsOf, limitsOf } from './spending.ts';

export interface Team {
  readonly id: string;
  /** Models that its keys may use. Undefined: all. */
  readonly models: readonly string[] | undefined;
  readonly blocked: boolean;
}

/** By the ids of the file. */
export type Teams = ReadonlyMap<string, Team>;

/** @param teams filled */
export function importTeams(items: readonly ForeignItem[], draft: Draft, teams: Map<string, Team>): void {
  for (const item of items) {
    const written = item.get('team_id')?.text();
    const id = free(draft.teams, nameOf(item.get('team_alias')?.text() ?? written ?? 'team'));
    const blocked = item.get('blocked')?.value === true;
    if (blocked) item.lose('is blocked: its keys are not imported');
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
  if (item.get('blocked')?.value === true || team?.blocked === true) {
    item.lose('is blocked, or its team is: it is not imported');
    return undefined;
  }
  const credential = credentialOf(item, draft, id);
  if (!credential) return undefined;
  if (written !== undefined && team === undefined)
    item.get('team_id')?.lose('names a team that is in none of the files');
  const key = defined({
    id,
    ...credential,
    expires_at: expiryOf(item.get('expires')),
    models: allowed(item.get('models'), team, draft),
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
  if (!token || text === undefined) {
    item.lose('has no token');
    return undefined;
  }
  if (/^[0-9a-f]{64}$/.test(text)) return { digest: `sha256:${text}` };
  return { key: draft.secret(token, `${id}_KEY`, `the key ${id}`) };
}

function expiryOf(item: ForeignItem | undefined): string | undefined {
  const text = item?.text();
  if (text === undefined) return undefined;
  const time = Date.parse(text);
  if (!Number.isNaN(time)) return new Date(time).toISOString();
  item?.lose('is no time');
  return undefined;
}

/** A key without a list has that of its team. */
function allowed(item: ForeignItem | undefined, team: Team | undefined, draft: Draft): readonly string[] | undefined {
  const names = item?.items().map(({ value }) => value) ?? [];
  return names.length === 0 || names.includes('all-team-models') ? team?.models : modelsOf(item, draft);
}

/** Undefined: all models. */
function modelsOf(item: ForeignItem | undefined, draft: Draft): readonly string[] | undefined {
  const items = item?.items() ?? [];
  if (items.length === 0 || items.some(({ value }) => value === 'all-proxy-models' || value === '*')) return undefined;
  return items.flatMap((one) => {
    const name = one.text();
    if (name !== undefined && !Object.hasOwn(draft.aliases, name))
      one.lose('is not in model_list; it is listed all the same');
    return name ?? [];
  });
}

/** Metadata are short texts here. */
export function metadataOf(item: ForeignItem | undefined): DraftPart | undefined {
  const entries = (item?.entries() ?? []).flatMap(([name, one]): [string, string][] => {
    const { value } = one;
    if (isObject(value) || Array.isArray(value) || String(value) === '' || String(value).length > 128) {
      one.lose('metadata are texts of at most 128 characters');
      return [];
    }
    return [[name, literal(String(value))]];
  });
  return entries.length > 0 ? Object.fromEntries(entries.slice(0, 16)) : undefined;
}

const free = (taken: Readonly<Record<string, unknown>>, wanted: string): string =>
  freeName(wanted, (id) => Object.hasOwn(taken, id));
