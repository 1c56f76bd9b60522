import { createHash } from 'node:crypto';
import type { FileObject } from '../../../core/settings/read/file-objects.ts';
import type { Entity, EntityDoc, KeyDigest } from '../../../core/ports/entities.ts';
import type { StateStore } from '../../../core/ports/store.ts';
import { ApiProblem } from './problems.ts';
import type { ObjectKind } from './routes.ts';
import { hiddenOf } from './schemas.ts';
import type { ApiSources } from '../../../core/process/admin-port.ts';

export interface OwnedObject {
  readonly kind: ObjectKind;
  readonly id: string;
  /** `store`, or the place in a file. */
  readonly owner: string;
  /** With its quotes. */
  readonly etag: string;
  /** The entry of a settings file that it stands for. */
  readonly spec: EntityDoc;
  readonly entity: Entity | undefined;
  readonly credentials: readonly Omit<KeyDigest, 'digest'>[];
}

export const IN_STORE = 'store';

export const etagOf = (version: number): string => `"${version}"`;

/** The spec of a key has the end of its secret as `expires_at`, as in keys.yaml. */
export function storedObject(entity: Entity, kind: ObjectKind): OwnedObject {
  const { id, version, digests, doc } = entity;
  const end = digests.find(({ slot }) => slot === 0)?.validTo;
  return {
    kind,
    id,
    owner: IN_STORE,
    etag: etagOf(version),
    spec: end === undefined ? doc : { ...doc, expires_at: new Date(end).toISOString() },
    entity,
    credentials: digests.map(({ digest: _, ...rest }) => rest),
  };
}

function fileObject({ kind, id, place, value }: FileObject): OwnedObject {
  // A wrapped secret becomes the name of its source.
  const text = JSON.stringify(value);
  const doc = JSON.parse(text) as EntityDoc;
  const hidden = hiddenOf(kind);
  const spec = Object.fromEntries(Object.entries(doc).filter(([name]) => !hidden.includes(name)));
  return {
    kind,
    id,
    owner: place,
    etag: `"file-${createHash('sha256').update(text).digest('hex').slice(0, 16)}"`,
    spec,
    entity: undefined,
    credentials: kind === 'keys' ? credentialsOf(doc) : [],
  };
}

function credentialsOf(doc: EntityDoc): OwnedObject['credentials'] {
  const endOf = (moment: unknown): number | undefined => (typeof moment === 'string' ? Date.parse(moment) : undefined);
  const own = { slot: 0, last4: '', validFrom: 0, validTo: endOf(doc['expires_at']) };
  const { previous } = doc;
  if (typeof previous !== 'object' || previous === null || !('expires_at' in previous)) return [own];
  return [own, { slot: 1, last4: '', validFrom: 0, validTo: endOf(previous['expires_at']) }];
}

interface ReadObjects {
  readonly version: number | undefined;
  readonly files: readonly FileObject[];
  readonly byKind: Map<string, readonly NamedObject[]>;
  /** Tokens by their digests; undefined: not asked for yet. */
  byDigest?: ReadonlyMap<string, Entity>;
}

type NamedObject = { readonly id: string } & ({ readonly file: FileObject } | { readonly entity: Entity });

/** Reads the objects of each call. Sorted lists are kept while nothing changes. Rejects with `StateFailure` while the store does not answer. */
export function createObjectsReader({ state, inForce }: ApiSources): () => Promise<Objects> {
  let last: ReadObjects | undefined;
  return async () => {
    const latest = await state?.latest();
    const { objects: files } = inForce();
    if (!last || last.version !== latest?.version || last.files !== files)
      last = { version: latest?.version, files, byKind: new Map() };
    return new Objects(last, latest?.entities ?? new Map(), state);
  };
}

/** The objects of the files and of the store, as of one moment. */
export class Objects {
  /** For calls about requests, which are answered without the store. */
  static readonly none = new Objects({ version: undefined, files: [], byKind: new Map() }, new Map(), undefined);
  readonly #found: ReadObjects;
  readonly #entities: ReadonlyMap<string, Entity>;
  readonly #owns: readonly string[] | undefined;
  readonly #store: StateStore | undefined;

  constructor(found: ReadObjects, entities: ReadonlyMap<string, Entity>, state: ApiSources['state']) {
    this.#found = found;
    this.#entities = entities;
    this.#owns = state?.owns;
    this.#store = state?.store;
  }

  /** Throws `no_store`. */
  get store(): StateStore {
    if (this.#store) return this.#store;
    throw new ApiProblem('no_store', 'server.yaml has no `state`.');
  }

  /** False: server.yaml has no `state`. */
  get isStateful(): boolean {
    return this.#owns !== undefined;
  }

  get hasStore(): boolean {
    return this.#store !== undefined;
  }

  /** Throws unless the store may hold objects of the kind. */
  checkOwned(kind: ObjectKind): void {
    if (!this.#owns) throw new ApiProblem('no_store', 'server.yaml has no `state`.');
    if (!this.#owns.includes(kind))
      throw new ApiProblem('not_owned', `\`state.owns\` in server.yaml does not list \`${kind}\`.`);
  }

  find(kind: ObjectKind, id: string): OwnedObject | undefined {
    const file = this.#found.files.find((one) => one.kind === kind && one.id === id);
    if (file) return fileObject(file);
    const entity = this.#entities.get(`${kind}/${id}`);
    return entity && storedObject(entity, kind);
  }

  /** Throws `not_found`. */
  get(kind: ObjectKind, id: string): OwnedObject {
    const found = this.find(kind, id);
    if (!found) throw new ApiProblem('not_found', `There is no ${kind.replace(/s$/, '')} with this id.`);
    return found;
  }

  /** All objects of a kind by id, to page through. `show` makes one of them an object. */
  names(kind: ObjectKind | 'tokens'): readonly NamedObject[] {
    const known = this.#found.byKind.get(kind);
    if (known) return known;
    const files = this.#found.files.filter((one) => one.kind === kind).map((file) => ({ id: file.id, file }));
    const stored = [...this.#entities.values()]
      .filter((one) => one.kind === kind)
      .map((entity) => ({ id: entity.id, entity }));
    const names = [...files, ...stored].sort((one, other) => (one.id < other.id ? -1 : 1));
    this.#found.byKind.set(kind, names);
    return names;
  }

  list(kind: ObjectKind): readonly OwnedObject[] {
    return this.names(kind).map((named) => showNamed(named, kind));
  }

  tokens(): readonly Entity[] {
    return this.names('tokens').flatMap((named) => ('entity' in named ? named.entity : []));
  }

  tokenOf(digest: string): Entity | undefined {
    this.#found.byDigest ??= new Map(
      this.tokens().flatMap((token) => token.digests.map((own): [string, Entity] => [own.digest, token])),
    );
    return this.#found.byDigest.get(digest);
  }
}

const showNamed = (named: NamedObject, kind: ObjectKind): OwnedObject =>
  'file' in named ? fileObject(named.file) : storedObject(named.entity, kind);
