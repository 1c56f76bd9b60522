import type { KeysFile, TeamsFile } from '../../../../schemas/types.generated.ts';
import type { AlertTree, CallerPlace, NodeChanges, NodePath, NodeTree, TreeNode } from '../../tenants/tree.ts';
import { changesBetween, NO_OBJECTS, type StoredChanges, type StoredObjects } from '../source/stored-objects.ts';
import { misconfigured, type DigestEntry, type KeyRecord, type KnownKeys, type OuterNode } from './key-record.ts';
import { NO_TENANTS, TenantsDraft, type TenantFiles, type TenantParts } from './tenants-draft.ts';

interface TenantsSetup {
  readonly keys: KeysFile;
  readonly teams: TeamsFile;
  readonly stored?: StoredObjects | undefined;
  /** Time zone of budgets that name none. */
  readonly timeZone?: string | undefined;
  /** The gateway configs that keys of the store can name as their default. Default: any. */
  readonly configIds?: ReadonlySet<string> | undefined;
  /** The tenants of the settings before. Objects of the store are taken from them and not compiled again. */
  readonly before?: Tenants | undefined;
}

const NO_PATH: NodePath = [];

/** The next version of the tenants, and what differs. */
interface ChangedTenants extends NodeChanges {
  readonly tenants: Tenants;
}

/** Organizations, teams and keys of the files and the store at one moment. A change makes the next version. */
export class Tenants implements NodeTree, AlertTree, KnownKeys {
  readonly #files: TenantFiles;
  readonly #parts: TenantParts;
  #nodes: readonly TreeNode[] | undefined;

  private constructor(files: TenantFiles, parts: TenantParts) {
    this.#files = files;
    this.#parts = parts;
  }

  static of({ keys, teams, stored = NO_OBJECTS, timeZone = 'UTC', configIds, before }: TenantsSetup): Tenants {
    const own: TenantFiles = {
      keys: new Map(keys.keys.map((key) => [key.id, key])),
      teams: teams.teams ?? {},
      organizations: teams.organizations ?? {},
      timeZone,
      configIds,
    };
    const known = before && compilesAlike(before.#files, own) ? before : undefined;
    const draft = new TenantsDraft(own, known ? known.#parts : NO_TENANTS);
    for (const files of known ? [known.#files, own] : [own]) draft.addFiles(files);
    draft.apply(changesBetween(known?.stored ?? NO_OBJECTS, stored));
    return new Tenants(own, draft.parts());
  }

  with(changes: StoredChanges): ChangedTenants {
    const draft = new TenantsDraft(this.#files, this.#parts);
    draft.apply(changes);
    return { tenants: new Tenants(this.#files, draft.parts()), changed: draft.changed, before: draft.before };
  }

  get known(): boolean {
    return this.#parts.known;
  }

  get stored(): StoredObjects {
    return { known: this.#parts.known, objects: this.#parts.stored };
  }

  digest(digest: string): DigestEntry | undefined {
    return this.#parts.digests.get(digest);
  }

  key(id: string): KeyRecord | undefined {
    return this.#parts.keys.get(id);
  }

  keys(): Iterable<KeyRecord> {
    return this.#parts.keys.values();
  }

  /** An organization or a team by its ref: `team:search`. */
  outer(ref: string): OuterNode | undefined {
    return this.#parts.outer.get(ref);
  }

  pathOf({ keyId, team, organization }: CallerPlace): NodePath {
    const record = this.#parts.keys.get(keyId);
    if (record && team === record.parts.key.team && (team ?? organization) === team) return record.path;
    const own = record?.path ?? this.#parts.left.get(keyId) ?? NO_PATH;
    const [kind, id] = team === undefined ? ['organization', organization] : ['team', team];
    const ref = `${kind}:${id}`;
    if (id === undefined || own.some((node) => node.ref === ref)) return own;
    const outer = this.#parts.outer.get(ref);
    const problem = outer ? outer.problem : `its ${kind} "${id}" does not exist`;
    if (!outer || problem !== undefined) throw misconfigured(keyId, problem);
    return [outer.organization?.node, outer.node, record?.parts.node].filter((node) => node !== undefined);
  }

  around(ref: string): readonly string[] {
    if (ref.startsWith('key:')) return refsOf(this.pathOf({ keyId: ref.slice('key:'.length) }).slice(0, -1));
    const organization = this.#parts.outer.get(ref)?.organization;
    return organization ? [organization.node.ref] : [];
  }

  nodes(): readonly TreeNode[] {
    return (this.#nodes ??= [
      ...[...this.#parts.outer.values()].map(({ node }) => node),
      ...[...this.#parts.keys.values()].map(({ parts }) => parts.node),
    ]);
  }

  get hasBudgets(): boolean {
    return this.nodes().some(({ budgets }) => budgets.length > 0);
  }

  get hasLimits(): boolean {
    return this.nodes().some(({ limits }) => limits !== undefined);
  }
}

/** Whether objects of the store compile to the same with both. */
const compilesAlike = (one: TenantFiles, other: TenantFiles): boolean =>
  one.timeZone === other.timeZone && sameIds(one.configIds, other.configIds);

const sameIds = (one: TenantFiles['configIds'], other: TenantFiles['configIds']): boolean =>
  one === other || (one !== undefined && other !== undefined && one.size === other.size && one.isSubsetOf(other));

const refsOf = (path: NodePath): readonly string[] => path.map(({ ref }) => ref).toReversed();
