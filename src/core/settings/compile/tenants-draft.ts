import type { GatewayKey, Team, TeamsFile } from '../../../../schemas/types.generated.ts';
import type { NodePath, TreeNode } from '../../tenants/tree.ts';
import { ShardedChanges, ShardedMap } from '../../tenants/sharded-map.ts';
import { nameOf, type StoredChanges, type StoredObject } from '../source/stored-objects.ts';
import { ringDigests, KeyRecord, type DigestEntry, type OuterNode } from './key-record.ts';
import { type Attached, attachedTo, compileOwned } from './compile-node.ts';

/** The part of the files, which is the same for every version of the tenants. */
export interface TenantFiles {
  readonly keys: ReadonlyMap<string, GatewayKey>;
  readonly teams: NonNullable<TeamsFile['teams']>;
  readonly organizations: NonNullable<TeamsFile['organizations']>;
  readonly timeZone: string;
  readonly configIds: ReadonlySet<string> | undefined;
}

export interface TenantParts {
  readonly known: boolean;
  readonly stored: ShardedMap<StoredObject>;
  /** Stored budgets and limits, by the node that they are of. */
  readonly attached: ShardedMap<Attached>;
  /** Organizations and teams, by the ref of their node. */
  readonly outer: ShardedMap<OuterNode>;
  readonly keys: ShardedMap<KeyRecord>;
  readonly digests: ShardedMap<DigestEntry>;
  /** Paths of keys that are gone, for the requests that they began. */
  readonly left: ReadonlyMap<string, NodePath>;
}

export const NO_TENANTS: TenantParts = {
  known: true,
  stored: new ShardedMap(),
  attached: new ShardedMap(),
  outer: new ShardedMap(),
  keys: new ShardedMap(),
  digests: new ShardedMap(),
  left: new Map(),
};

const MAX_LEFT = 1_000;

/** Makes the next version of the tenants: the parts that change are copied once, the others are shared. */
export class TenantsDraft {
  readonly #files: TenantFiles;
  readonly #stored: ShardedChanges<StoredObject>;
  readonly #attached: ShardedChanges<Attached>;
  readonly #outer: ShardedChanges<OuterNode>;
  readonly #keys: ShardedChanges<KeyRecord>;
  readonly #digests: ShardedChanges<DigestEntry>;
  #left: ReadonlyMap<string, NodePath>;
  #known: boolean;
  /** Ids of what is to be compiled. */
  readonly #marked = { organization: new Set<string>(), team: new Set<string>(), key: new Set<string>() };
  readonly changed: TreeNode[] = [];
  readonly before: TreeNode[] = [];

  constructor(files: TenantFiles, parts: TenantParts) {
    this.#files = files;
    this.#known = parts.known;
    this.#stored = new ShardedChanges(parts.stored);
    this.#attached = new ShardedChanges(parts.attached);
    this.#outer = new ShardedChanges(parts.outer);
    this.#keys = new ShardedChanges(parts.keys);
    this.#digests = new ShardedChanges(parts.digests);
    this.#left = parts.left;
  }

  parts(): TenantParts {
    return {
      known: this.#known,
      stored: this.#stored.done(),
      attached: this.#attached.done(),
      outer: this.#outer.done(),
      keys: this.#keys.done(),
      digests: this.#digests.done(),
      left: this.#left,
    };
  }

  apply({ known, changed, gone }: StoredChanges): void {
    this.#known = known;
    for (const name of gone) {
      this.#touch(this.#stored.get(name), false);
      this.#stored.delete(name);
    }
    for (const object of changed) {
      const name = nameOf(object);
      this.#touch(this.#stored.get(name), false);
      this.#stored.set(name, object);
      this.#touch(object, true);
    }
    this.#compile();
  }

  /** Marks what files have, or had. */
  addFiles({ organizations, teams, keys }: TenantFiles): void {
    for (const id of Object.keys(organizations)) this.#marked.organization.add(id);
    for (const id of Object.keys(teams)) this.#marked.team.add(id);
    for (const id of keys.keys()) this.#marked.key.add(id);
  }

  /** Marks what an object is a part of. @param isThere false: it leaves */
  #touch(object: StoredObject | undefined, isThere: boolean): void {
    if (object?.kind === 'organizations') this.#marked.organization.add(object.id);
    else if (object?.kind === 'teams') this.#marked.team.add(object.id);
    else if (object?.kind === 'keys') this.#marked.key.add(object.id);
    else if (object?.kind === 'budgets' || object?.kind === 'limits') {
      const { node } = object.value;
      const attached = attachedTo(this.#attached.get(node), object, isThere);
      if (attached) this.#attached.set(node, attached);
      else this.#attached.delete(node);
      const [kind, id = ''] = node.split(/:(.*)/);
      if (kind === 'organization' || kind === 'team' || kind === 'key') this.#marked[kind].add(id);
    }
  }

  /** From the outer nodes in: those inside refer to them. */
  #compile(): void {
    const { organization: organizations, team: teams, key: keys } = this.#marked;
    for (const id of organizations) this.#replaceOuter('organization', id);
    if (organizations.size > 0) for (const id of this.#teamsOf(organizations)) teams.add(id);
    for (const id of teams) this.#replaceOuter('team', id);
    // All before the first new one: a digest may have moved to another key.
    for (const id of keys) for (const digest of this.#keys.get(id)?.parts.digests ?? []) this.#digests.delete(digest);
    for (const id of keys) this.#replaceKey(id);
    if (teams.size === 0) return;
    for (const record of this.#keys.done().shards.flatMap((shard) => [...shard.values()])) {
      const { team } = record.parts.key;
      if (team !== undefined && teams.has(team) && !keys.has(record.id)) this.#linkAgain(record);
    }
  }

  *#teamsOf(organizations: ReadonlySet<string>): Iterable<string> {
    for (const [id, { organization }] of Object.entries(this.#files.teams))
      if (organization !== undefined && organizations.has(organization)) yield id;
    for (const object of this.#stored.done().values())
      if (object.kind === 'teams' && organizations.has(object.value.organization ?? '')) yield object.id;
  }

  #outerNode(kind: 'organization' | 'team', id: string): OuterNode | undefined {
    const ref = `${kind}:${id}`;
    const object = this.#stored.get(`${kind}s/${id}`);
    const stored = object?.kind === 'teams' || object?.kind === 'organizations' ? object : undefined;
    const owned = compileOwned<Team>({ ...this.#own(ref), file: this.#files[`${kind}s`][id], stored });
    if (!owned) return undefined;
    const { file, node } = owned;
    const outer = file.organization === undefined ? undefined : this.#outer.get(`organization:${file.organization}`);
    const missing =
      file.organization !== undefined && !outer
        ? `its team "${id}" names the organization "${file.organization}", which does not exist`
        : undefined;
    return { node, metadata: file.metadata, organization: outer, problem: owned.problem ?? missing ?? outer?.problem };
  }

  #own = (ref: string) => ({ ref, attached: this.#attached.get(ref), timeZone: this.#files.timeZone });

  #replaceOuter(kind: 'organization' | 'team', id: string): void {
    const ref = `${kind}:${id}`;
    const [before, now] = [this.#outer.get(ref), this.#outerNode(kind, id)];
    if (now) this.#outer.set(ref, now);
    else this.#outer.delete(ref);
    this.#note(before?.node, now?.node);
  }

  #note(before: TreeNode | undefined, now: TreeNode | undefined): void {
    if (before) this.before.push(before);
    if (now) this.changed.push(now);
  }

  #replaceKey(id: string): void {
    const before = this.#keys.get(id);
    const now = this.#key(id);
    if (now) {
      this.#keys.set(id, now.record);
      for (const [digest, entry] of now.digests) this.#digests.set(digest, entry);
    } else if (before) {
      this.#keys.delete(id);
      this.#left = new Map([...this.#left].slice(1 - MAX_LEFT)).set(id, before.path);
    }
    this.#note(before?.parts.node, now?.record.parts.node);
  }

  #key(id: string): { readonly record: KeyRecord; readonly digests: ReadonlyMap<string, DigestEntry> } | undefined {
    const object = this.#stored.get(`keys/${id}`);
    const stored = object?.kind === 'keys' ? object : undefined;
    const owned = compileOwned({
      ...this.#own(`key:${id}`),
      file: this.#files.keys.get(id),
      stored: stored && { ...stored, value: stored.value.entry },
    });
    if (!owned) return undefined;
    const { file: key, node } = owned;
    const team = this.#teamOf(key);
    const isStored = stored !== undefined && !this.#files.keys.has(id);
    const ownProblem = owned.problem;
    const problem = ownProblem ?? this.#danglingOf(key, team, isStored);
    const digests = isStored ? ringDigests(key, stored.value.digests) : ringDigests(key);
    const expiresAt = [...digests.values()].find(({ previous }) => !previous)?.validTo ?? Infinity;
    const names = [...digests.keys()];
    const record = new KeyRecord({ key, isStored, node, team, ownProblem, problem, expiresAt, digests: names });
    return { record, digests };
  }

  #teamOf({ team }: GatewayKey): OuterNode | undefined {
    return team === undefined ? undefined : this.#outer.get(`team:${team}`);
  }

  #danglingOf(key: GatewayKey, team: OuterNode | undefined, isStored: boolean): string | undefined {
    const { configIds } = this.#files;
    if (key.team !== undefined && !team) return `its team "${key.team}" does not exist`;
    if (isStored && key.default_config !== undefined && configIds && !configIds.has(key.default_config))
      return `its default config "${key.default_config}" does not exist`;
    return team?.problem;
  }

  /** Its team or its organization has changed; its own node and digests are as they were. */
  #linkAgain({ parts }: KeyRecord): void {
    const team = this.#teamOf(parts.key);
    const problem = parts.ownProblem ?? this.#danglingOf(parts.key, team, parts.isStored);
    this.#keys.set(parts.key.id, new KeyRecord({ ...parts, team, problem }));
  }
}
