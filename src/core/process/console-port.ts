import type { RecordQuery, RecordSource } from '../record/record-query.ts';
import type { Settings } from '../settings/read/load.ts';
import type { Diagnostic } from '../settings/source/diagnostic.ts';
import type { Environment } from '../settings/values/references.ts';
import type { Lookup } from '../upstream/index.ts';
import type { OutboundWay } from '../upstream/types.ts';
import type { AskParts } from './ask-parts.ts';
import type { InForce } from './reload.ts';

/** Statistics are split and filtered by these. */
export const STATS_DIMENSIONS = ['state', 'error', 'key', 'team', 'config', 'provider', 'model'] as const;
export type StatsDimension = (typeof STATS_DIMENSIONS)[number];

/** The console of the listener for operators. An add-on has it. */
export interface Console {
  readonly sessions: Sessions;
  /** This run of the process. */
  readonly boot: { readonly id: string; readonly startedAt: number };
  /** Events of a stream, as their text. Undefined: too many are open. */
  stream(records: RecordSource, options: StreamOptions): AsyncIterable<string> | undefined;
  /** Records on disk. Undefined: only the latest ones are kept, in memory. */
  readonly kept: KeptRecordSource | undefined;
  /** The counts of all processes. */
  stats(query: StatsQuery): Promise<StatsAnswer>;
  /** A patch of the file that would hold an entry. */
  draft(inForce: InForce, wish: DraftWish): Promise<FileDraft>;
  /** The mistakes of the settings in force with some texts replaced: file names with their texts. */
  validate(inForce: InForce, texts: Readonly<Record<string, string>>): Promise<EditedAnswer>;
  /** The same texts as a patch. */
  patch(inForce: InForce, texts: Readonly<Record<string, string>>): Promise<FileDraft>;
  /** The settings that this process has served, the latest first. */
  readonly history: () => Promise<readonly SettingsVersion[]>;
  /** Events of a job about the same texts, as their text. Undefined: too many run already. */
  trial(inForce: InForce, wish: TrialWish, onLeave: OnLeave): Promise<AsyncIterable<string> | undefined>;
  /** Events of a test, as their text. Undefined: there were too many. */
  test(ask: AskParts, question: Omit<TestQuestion, 'id'>, onLeave: OnLeave): AsyncIterable<string> | undefined;
  /** The reply to a request in the name of a key. Undefined: too many are under way. */
  play(ask: AskParts, question: object, onLeave: OnLeave): Promise<PlayedReply | undefined>;
  /** The settings in force as they were written. */
  written(inForce: InForce): Promise<WrittenSettings>;
  /** A file of the page, by its path below `/ui/`. Undefined: there is none. */
  page(path: string): Promise<PageFile | undefined>;
}

/** The counts of one process of its plugins, by their names in the settings. Plain values. */
export interface PluginFigures {
  readonly external: readonly string[];
  readonly durations: readonly {
    readonly plugin: string;
    /** Seconds. */
    readonly sum: number;
    readonly boundaries: readonly number[];
    readonly counts: readonly number[];
  }[];
  /** By code, of those that it threw itself; by kind, of faults. */
  readonly errors: readonly { readonly plugin: string; readonly what: string; readonly count: number }[];
}

export interface PageFile {
  readonly type: string;
  readonly bytes: Uint8Array;
  /** Undefined: compressed it is no smaller. */
  readonly gzip: Uint8Array | undefined;
  readonly etag: string;
  /** Its name changes with its content. */
  readonly immutable: boolean;
}

/** Who has signed in: the digest of a token, which is asked about again at each call. */
export interface SignedIn {
  readonly tokenDigest: string;
}

/** Sessions of browsers. Each has two halves, which open nothing alone: a cookie, and a text that scripts send as a header. */
export interface Sessions {
  create(of: SignedIn): Promise<{ readonly cookie: string; readonly csrf: string; readonly expiresAt: number }>;
  /** Undefined: no such session, or it has ended. */
  find(cookie: string, csrf: string): Promise<(SignedIn & { readonly expiresAt: number }) | undefined>;
  end(cookie: string): Promise<void>;
}

interface WrittenPlace {
  /** In the folder of the settings. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** The texts of the settings in force, and what is where in them. */
export interface WrittenSettings {
  readonly hash: string;
  readonly files: readonly { readonly path: string; readonly bytes: number }[];
  readonly configs: readonly { readonly id: string; readonly file: string }[];
  /** A path of a diagnostic, in the folder. */
  nameOf(path: string): string;
  /** With marks in the place of secrets. Undefined: there is no such file. */
  file(path: string): { readonly text: string; readonly masked: readonly { readonly line: number }[] } | undefined;
  /** By the names of targets and conditions in records. Undefined: there is no such config. */
  places(config: string): Readonly<Record<string, WrittenPlace>> | undefined;
  /** Where an entry of the catalog is. Undefined: not in a file. */
  entry(slug: string): WrittenPlace | undefined;
}

export interface StreamOptions {
  /** Who reads it: callers share the places. */
  readonly caller: string;
  readonly onLeave: OnLeave;
  /** Which requests. Undefined: none. */
  readonly query: Omit<RecordQuery, 'limit'> | undefined;
  /** The place after which the stream resumes. Undefined: it begins now. */
  readonly lastId: number | undefined;
  /** Its other events, sent again when something of them has changed. */
  readonly news: () => readonly (readonly [event: string, data: object])[];
  /** Whether the caller still has the right. */
  readonly isAllowed: () => Promise<boolean>;
}

/** Seconds of a step. Those of more than five minutes are sums of such steps. */
export const STATS_STEPS: readonly number[] = [10, 60, 300, 1800, 7200];
export const MAX_STATS_POINTS = 600;

export interface StatsQuery {
  /** Milliseconds since 1970. */
  readonly from: number;
  readonly to: number;
  /** Undefined: the shortest steps that begin at `from`, or as early as any do. */
  readonly stepSeconds: number | undefined;
  readonly by: StatsDimension | undefined;
  readonly filters: readonly (readonly [StatsDimension, readonly string[]])[];
}

/** A number for each step. Names as in the answers of the API. */
type Counts = 'requests' | 'errors' | 'rescued' | 'cached' | 'tokens_in' | 'tokens_out' | 'nano' | 'unpriced';
type Durations = 'p50_ms' | 'p95_ms' | 'first_p95_ms';

export type StatsSeries = { readonly name: string } & Readonly<Record<Counts, readonly number[]>> &
  Readonly<Record<Durations, readonly (number | null)[]>>;

export interface StatsAnswer {
  readonly stepSeconds: number;
  readonly since: number;
  readonly points: number;
  readonly series: readonly StatsSeries[];
  readonly other: StatsSeries | null;
  /** Steps before it have no figures. */
  readonly completeSince: number;
}

interface KeptRecordSource {
  /** The list with those that have ended from the disk. */
  page(query: RecordQuery, memory: RecordSource): ReturnType<RecordSource['page']>;
  find(id: string): Promise<object | undefined>;
}

/** An entry for a list of a settings file. */
export interface DraftWish {
  readonly list: 'providers' | 'keys' | 'prices';
  readonly entry: object;
}

export interface FileDraft {
  /** The folder of the settings, absolute. */
  readonly folder: string;
  readonly file: string;
  /** A unified diff. */
  readonly patch: string;
  /** Lines around a change are left out: `git apply` needs `--unidiff-zero`. */
  readonly cut?: boolean;
  readonly diagnostics?: readonly Diagnostic[];
  /** Why there is no patch. */
  readonly problem?: string;
}

/** A word in a line that replaces another. Columns count from 1. */
export interface SettingsFix {
  readonly line: number;
  readonly column: number;
  /** Behind the word. */
  readonly end_column: number;
  readonly text: string;
}

export interface EditedAnswer {
  /** Of the edited settings; null: they cannot be used. */
  readonly hash: string | null;
  /** References that were not read: `env:NAME`, `file:PATH`. */
  readonly unchecked: readonly string[];
  /** With files as in the folder. */
  readonly diagnostics: readonly (Diagnostic & { readonly fix?: SettingsFix })[];
}

export interface SettingsVersion {
  readonly hash: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Who wrote the object of the state store. Undefined: files have changed. */
  readonly by?: string;
  /** `patch` from the version before; absent: it is not kept. The first version of a process has none. */
  readonly files: readonly { readonly path: string; readonly patch?: string }[];
}

/** Texts of settings that somebody wishes, by their names in the folder, and what the job asks of them. */
export interface TrialWish {
  readonly job: 'effect' | 'tests';
  readonly texts: Readonly<Record<string, string>>;
  /** Plain values. */
  readonly more: object;
  /** The data of `done` when the job does not end. */
  readonly failed: (message: string) => object;
}

/** Plain values: a worker may do the test. */
export interface TestQuestion {
  readonly id: string;
  readonly slug: string | undefined;
  readonly entry: Readonly<Record<string, unknown>> | undefined;
  readonly model: string | undefined;
  /** The last step sends a small request, which costs. */
  readonly call: boolean;
}

export interface EntryTest {
  /** Their catalog has the one entry. */
  readonly settings: Settings;
  readonly outbound: OutboundWay;
  readonly env: Environment;
  readonly model: string | undefined;
  readonly call: boolean;
  /** Default: the system's resolver. */
  readonly lookup?: Lookup;
}

export interface TestStep {
  readonly name: string;
  /** Null: there was nothing to check, or the check could not tell (`unsure`). */
  readonly ok: boolean | null;
  readonly unsure?: true;
  readonly ms: number;
  readonly code?: string;
  readonly message: string;
  /** The remedy. */
  readonly hint?: string;
}

/** Runs a task when the reader leaves. @returns ends that */
export type OnLeave = (task: () => void) => () => void;

export interface PlayedReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly pieces: AsyncIterable<Uint8Array>;
}
