import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type {
  CatalogFile,
  GatewayFile,
  KeysFile,
  ServerFile,
  TeamsFile,
  CatalogEntry,
} from '../../../../schemas/types.generated.ts';
import { isObject } from '../../kernel/index.ts';
import type { Problem, Report } from '../../kernel/report.ts';
import { within } from '../checks/check.ts';
import { checkMeaning } from '../checks/index.ts';
import { sortDiagnostics, type Diagnostic, type FilePlace } from '../source/diagnostic.ts';
import { diskFiles, type SettingsFiles } from '../source/files.ts';
import { findSettingsFiles } from '../source/find-files.ts';
import type { Environment } from '../values/references.ts';
import { compileOutbound, type OutboundSettings } from '../compile/outbound.ts';
import { adminSettings, withHost } from '../compile/server-settings.ts';
import type { JsonPath } from '../schema/pointer.ts';
import { filesWithoutReader, readSettingsFile, type ReadFile } from './read-file.ts';
import { packageSchemas, type Schemas } from '../schema/schemas.ts';
import {
  storedConfigs,
  storedName,
  storedProviders,
  withStored,
  type StoredObjects,
  storeSettings,
} from '../source/stored-objects.ts';
import { readExtras, type Extras } from '../source/extra-files.ts';
import { FILES_WITH_OBJECTS, fileObjectsOf, type FileObject } from './file-objects.ts';
import { asWritten, inOurSpelling } from './spellings.ts';
import { readStoredFiles } from './stored-files.ts';
import type { TlsFiles } from './tls-files.ts';

/** The content of the files: validated, references resolved, secrets wrapped. Defaults are not filled in, nothing is compiled. */
export interface Settings {
  readonly server: ServerFile;
  /** The keys of keys.yaml, then those of the state store. */
  readonly keys: KeysFile;
  /** The teams and organizations of teams.yaml and of the state store. */
  readonly teams: TeamsFile;
  /** The entries of catalog.yaml, then those of the state store. */
  readonly catalog: CatalogFile;
  /** The contents of the files alone, without the state store. */
  readonly written: { readonly keys: KeysFile; readonly teams: TeamsFile };
  /** The objects of the state store when the files were read. Undefined: there is no store, or this command opens none. */
  readonly stored: StoredObjects | undefined;
  /** Those of them that are not valid, and so have no effect. */
  readonly leftOut: Awaited<ReturnType<typeof readExtras>>['leftOut'];
  /** By id: the file's name without `.yaml`. */
  readonly gateway: ReadonlyMap<string, GatewayFile>;
  readonly extras: Extras;
  /** The content of the files that `tls`, `admin.tls` and `egress.ca` name. */
  readonly tls: TlsFiles;
  /** How the gateway reaches upstreams: `egress` of server.yaml, and what it takes from the environment. */
  readonly outbound: OutboundSettings;
  /**
   * Identifies the files, and the entries of the catalog and gateway configs that the state store has, in logs and metrics; the store has a version of its own. It excludes secrets: a short secret could be guessed from its hash. So equal
   * hashes do not mean equal settings; a reload always reads everything.
   */
  readonly hash: string;
  /** Every path that was read, including the files of `${file:…}`: a watcher must watch them all. */
  readonly files: readonly string[];
}

export interface LoadOptions {
  readonly env: Environment;
  /** Default: the disk. */
  readonly files?: SettingsFiles;
  /** Milliseconds since 1970, to find expired keys. Default: the system's clock. */
  readonly now?: number;
  /** Fakes secrets that cannot be resolved (`fakedNames`), for commands that send nothing. Default: false. */
  readonly fakeMissing?: boolean;
  /** Default: those of the package. */
  readonly schemas?: Schemas;
}

interface FolderReading {
  readonly folder: string;
  readonly folderExists: boolean;
  readonly files: readonly ReadFile[];
  readonly diagnostics: readonly Diagnostic[];
}

export class LoadResult {
  /** Undefined when a file is missing or breaks its schema. Present with semantic errors, so that later passes can report more. */
  readonly settings: Settings | undefined;
  /** False when nothing could be read: the mistake is on the command line rather than in the files. */
  readonly folderExists: boolean;
  /** As the user named it. */
  readonly folder: string;
  /** References of missing secrets that were faked: `env:NAME`, `file:PATH`. */
  readonly fakedNames: readonly string[];
  readonly #files: ReadonlyMap<string, ReadFile>;
  readonly #diagnostics: Diagnostic[];

  constructor(settings: Settings | undefined, read: FolderReading) {
    this.settings = settings;
    this.folderExists = read.folderExists;
    this.folder = read.folder;
    this.fakedNames = [...new Set(read.files.flatMap((file) => file.fakedNames))];
    this.#files = new Map(read.files.map((file) => [file.found.name, file]));
    this.#diagnostics = [...read.diagnostics, ...read.files.flatMap((file) => file.diagnostics)];
  }

  /** All problems, including those of later passes, sorted by file. */
  get diagnostics(): readonly Diagnostic[] {
    return sortDiagnostics(this.#diagnostics);
  }

  get ok(): boolean {
    return this.settings !== undefined && this.#diagnostics.every(({ severity }) => severity !== 'error');
  }

  /** The position of a setting, or of the nearest node around it. @param name `catalog.yaml`, `gateway/prod.yaml` */
  placeOf(written: string, from: JsonPath, on?: 'key' | 'value', at?: Problem['at']): FilePlace {
    const [name, path] = this.#ownerOf(written, from);
    const { yaml, value } = this.#files.get(name) ?? NO_FILE;
    const spelled = asWritten(path, value);
    const position = (at ? yaml?.locateText(spelled, at) : yaml?.locate(spelled, on)) ?? { line: 1, column: 1 };
    return { file: yaml?.name ?? join(this.folder, name), ...position };
  }

  /** Entries of the state store follow those of catalog.yaml, and its configs those of gateway/. They are no part of them. */
  #ownerOf(name: string, path: JsonPath): readonly [string, JsonPath] {
    const [list, index, ...rest] = path;
    const config = /^gateway\/(.+)\.yaml$/.exec(name)?.[1];
    if (config !== undefined && !this.#files.has(name)) return [storedName({ kind: 'configs', id: config }), path];
    if (name !== 'catalog.yaml' || list !== 'providers' || typeof index !== 'number') return [name, path];
    const entries = [...this.#files.values()].filter(isStoredEntry);
    const first = (this.settings?.catalog.providers.length ?? Infinity) - entries.length;
    const entry = entries[index - first];
    return entry ? [entry.found.name, [list, 0, ...rest]] : [name, path];
  }

  /** The content of a file; undefined for one that could not be read. @param name `catalog.yaml`, `gateway/prod.yaml` */
  valueOf(name: string): unknown {
    return this.#files.get(this.#ownerOf(name, [])[0])?.value;
  }

  /** The text of a file. Undefined: it could not be read, or is an object of the state store. @param name `gateway/prod.yaml` */
  textOf(name: string): string | undefined {
    return this.#files.get(name)?.yaml?.text;
  }

  /** Objects that files hold and a state store could hold, each with its place. */
  objects(): readonly FileObject[] {
    const own = [...this.#files.values()].flatMap(({ found: { kind, id, name }, value }): FileObject[] => {
      if (kind === 'prompt' && isObject(value)) return [{ kind: 'prompts', id, place: `${name}:1`, value }];
      if (kind === 'gateway' && !name.startsWith('store/')) return [{ kind: 'configs', id, place: name, value: {} }];
      return [];
    });
    const listed = FILES_WITH_OBJECTS.flatMap((name) => {
      const { yaml, value } = this.#files.get(name) ?? NO_FILE;
      return fileObjectsOf(name, yaml, value);
    });
    return [...listed, ...own];
  }

  /** Replaces the file's secrets and referenced values in a text. */
  conceal(name: string, text: string): string {
    return (this.#files.get(name) ?? NO_FILE).conceal(text);
  }

  /** All secrets of the files in clear, for code that removes them from output. */
  secrets(): readonly string[] {
    return [...new Set([...this.#files.values()].flatMap((file) => file.secrets))];
  }

  /** Adds the diagnostics of a pass that reads files of its own. */
  add(diagnostics: readonly Diagnostic[]): void {
    this.#diagnostics.push(...diagnostics);
  }

  /** The reporter for problems in a file. @param name `catalog.yaml`, `gateway/prod.yaml` */
  reporter(name: string): Report {
    return ({ path, message, on, at, severity = 'error', suggestion }) => {
      const { conceal } = this.#files.get(this.#ownerOf(name, path)[0]) ?? NO_FILE;
      const shown = suggestion !== undefined && conceal(suggestion) === suggestion ? { suggestion } : {};
      this.#diagnostics.push({ ...this.placeOf(name, path, on, at), severity, message: conceal(message), ...shown });
    };
  }
}

const NO_FILE = { yaml: undefined, value: undefined, conceal: (text: string) => text };

/** Reads a folder of settings. Mistakes become diagnostics, all of them at once, never exceptions. */
export async function loadSettings(folder: string, options: LoadOptions): Promise<LoadResult> {
  const { env, files = diskFiles, now = Date.now(), fakeMissing = false, schemas = packageSchemas() } = options;
  const found = await findSettingsFiles(folder, files);
  const usedElsewhere = storedProviders(files.stored?.()).map(({ value }) => value.doc['credentials']);
  const read = await Promise.all(
    found.files.map((file) => readSettingsFile(file, { env, files, schemas, fakeMissing, usedElsewhere })),
  );
  const extra = await readExtras({ found, read, files });
  // Problems of files, reported once the result is there to report to.
  const notes: { readonly file: string; readonly problem: Problem }[] = [];
  const noteIn =
    (file: string): Report =>
    (problem) =>
      void notes.push({ file, problem });
  const unread = filesWithoutReader(found, schemas);
  const ofFiles = gather(read, env, noteIn);
  const stored = ofFiles.server && storeSettings(ofFiles.server) && files.stored?.();
  const configIds = found.files.flatMap((file) => (file.kind === 'gateway' ? [file.id] : []));
  const own = await readStoredFiles(folder, stored, { schemas, catalog: ofFiles.catalog, configIds });
  const pieces = withStoredFiles(ofFiles, own, noteIn);
  const complete =
    isComplete(pieces) &&
    read.every((file) => file.value !== undefined) &&
    found.diagnostics.every(isWarning) &&
    unread.length === 0 &&
    extra.complete;
  // Commands that send nothing run where the certificates are not.
  const sent = fakeMissing ? undefined : pieces.server;
  const { tls, paths: ofTls } = await readTls(sent, { folder, files, now }, noteIn('server.yaml'));
  const outbound = compileOutbound(sent?.egress, env, within(noteIn('server.yaml'), 'egress'));
  const paths = [...read.flatMap((file) => file.paths), ...extra.paths, ...ofTls];
  const { extras } = extra;
  const leftOut = [...own.flatMap(leftOutOf), ...extra.leftOut];
  const hash = hashOf([...read, ...own], extra.hashed, tls);
  const settings = complete
    ? joined(pieces, stored, { extras, leftOut, tls, outbound, hash, files: paths })
    : undefined;
  const result = new LoadResult(settings, { ...found, folder, files: [...read, ...own] });
  result.add([...extra.diagnostics, ...unread]);
  for (const { file, problem } of notes) result.reporter(file)(problem);
  checkMeaning(
    { ...pieces, extras, stored, configIds: [...configIds, ...storedConfigs(stored).map(({ id }) => id)], now },
    (name) => result.reporter(name),
    (problems) => result.add(problems),
  );
  return result;
}

const leftOutOf = ({ found: { kind, id }, value }: ReadFile): Settings['leftOut'] =>
  value === undefined ? [{ kind: kind === 'catalog' ? 'providers' : 'configs', id }] : [];

async function readTls(
  server: ServerFile | undefined,
  reading: { readonly folder: string; readonly files: SettingsFiles; readonly now: number },
  report: Report,
): Promise<{ readonly tls: TlsFiles; readonly paths: readonly string[] }> {
  if (!server || (!server.tls && !adminSettings(server).tls && server.egress?.ca === undefined))
    return { tls: {}, paths: [] };
  const { readTlsFiles } = await import('./tls-files.ts');
  return readTlsFiles(server, reading, report);
}

const isWarning = ({ severity }: Diagnostic): boolean => severity === 'warning';

/** The files that could be read: semantic checks run on every file that is valid by itself. */
interface Pieces {
  readonly server: ServerFile | undefined;
  readonly catalog: CatalogFile | undefined;
  readonly keys: KeysFile | undefined;
  readonly teams: TeamsFile | undefined;
  readonly gateway: ReadonlyMap<string, GatewayFile>;
}

function gather(read: readonly ReadFile[], env: Environment, noteIn: (file: string) => Report): Pieces {
  const one = (kind: ReadFile['found']['kind']) => read.find((file) => file.found.kind === kind);
  const server = one('server');
  // ajv has just validated each value against the schema these types are generated from.
  const file = (server ? server.value : {}) as ServerFile | undefined;
  const teams = one('teams');
  const catalog = one('catalog')?.value as CatalogFile | undefined;
  return {
    server: file && withHost(file, env),
    catalog: catalog && fillCatalog(catalog),
    keys: one('keys')?.value as KeysFile | undefined,
    teams: (teams ? teams.value : {}) as TeamsFile | undefined,
    gateway: configsIn(read, noteIn),
  };
}

const configsIn = (read: readonly ReadFile[], noteIn: (file: string) => Report): Pieces['gateway'] =>
  new Map(
    read.flatMap(({ found, value }) =>
      found.kind === 'gateway' && value ? [[found.id, inOurSpelling(value, noteIn(found.name))] as const] : [],
    ),
  );

/** Checks refuse a slug that a file and the store have. */
function withStoredFiles(pieces: Pieces, own: readonly ReadFile[], noteIn: (file: string) => Report): Pieces {
  // ajv has just validated each value against the schema of the file.
  const entries = own.filter(isStoredEntry).flatMap(({ value }) => (value as CatalogFile).providers);
  const { catalog, gateway } = pieces;
  return {
    ...pieces,
    catalog: catalog && { ...catalog, providers: [...catalog.providers, ...entries] },
    gateway: new Map([...gateway, ...configsIn(own, noteIn)]),
  };
}

/** An entry of the state store that is valid. */
const isStoredEntry = ({ found, value }: ReadFile): boolean =>
  value !== undefined && found.kind === 'catalog' && found.name !== 'catalog.yaml';

type CompletePieces = { readonly [Name in keyof Pieces]: NonNullable<Pieces[Name]> };

function joined(
  { keys, teams, ...pieces }: CompletePieces,
  stored: StoredObjects | undefined,
  more: Pick<Settings, 'extras' | 'leftOut' | 'tls' | 'outbound' | 'hash' | 'files'>,
): Settings {
  const written = { keys, teams };
  // Serving needs the files and the store apart: joining 10,000 keys takes 15 ms, which a reload does not spend.
  let own: ReturnType<typeof withStored> | undefined;
  const both = (): ReturnType<typeof withStored> => (own ??= withStored(written, stored));
  return {
    ...pieces,
    ...more,
    written,
    stored,
    get keys() {
      return both().keys;
    },
    get teams() {
      return both().teams;
    },
  };
}

function isComplete(pieces: Pieces): pieces is CompletePieces {
  const { server, catalog, keys, teams } = pieces;
  return [server, catalog, keys, teams].every((file) => file !== undefined);
}

function hashOf(read: readonly ReadFile[], extra: readonly unknown[], tls: TlsFiles): string {
  const hash = createHash('sha256');
  // Values, not text: a comment does not change the settings, a variable's new value does. A secret serializes as its source.
  for (const { found, value } of read)
    hash.update(JSON.stringify([found.name, found.kind === 'server' ? withoutOwn(value) : value]));
  for (const one of extra) hash.update(JSON.stringify(one));
  if (tls.data || tls.admin || tls.upstreams !== undefined) hash.update(JSON.stringify(['tls', tls]));
  return hash.digest('hex').slice(0, 16);
}

/** Without what differs between gateways with the same settings: the folder of each, and their ports on one machine. */
function withoutOwn(server: unknown): unknown {
  if (!isObject(server) || !isObject(server['state']) || !('dir' in server['state'])) return server;
  const listeners = ['listen', 'status', 'admin'].map((name) => [name, without(server[name], 'port')] as const);
  return { ...server, ...Object.fromEntries(listeners), state: without(server['state'], 'dir') };
}

function without(value: unknown, name: string): unknown {
  if (!isObject(value)) return value;
  const { [name]: _, ...rest } = value;
  return rest;
}

/** catalog.yaml as it was validated, in which entries may lack their slug. */
interface WrittenCatalog {
  readonly providers: readonly (Omit<CatalogEntry, 'slug'> & { readonly slug?: string })[];
}

/** Names each entry without a slug after its provider. The catalog reports a slug that two entries have. */
function fillCatalog(file: WrittenCatalog): CatalogFile {
  // The schema marks `slug` as filled in, so the types have it.
  const providers = file.providers.map((entry) => ({ slug: entry.provider, ...entry }) as CatalogEntry);
  return { ...file, providers };
}
