import type { Api } from './types.generated.ts';

/** Answers of the API under the names that the page uses, and the members that the document leaves open. */
export type ApiSchemas = Api.Document['schemas'];

export type ConsoleSession = ApiSchemas['session'];
export type ProblemAnswer = ApiSchemas['problem'];
export type PlotSeries = NonNullable<ApiSchemas['stats']['other']>;
export type ShownEntry = ApiSchemas['provider'];
export type EntryKind = ApiSchemas['provider_kind'];
export type KeyObject = ApiSchemas['key'];
export type BudgetObject = ApiSchemas['budget'];
export type ProposedPatch = ApiSchemas['draft'];
export type ShownPlace = { readonly file: string; readonly line: number; readonly column?: number };

type CodeAndType = { readonly code?: string; readonly type?: string };

type TokenCounts = { readonly input?: number; readonly output?: number };

/** A request in a list. */
export type ListedRequest = Omit<ApiSchemas['request_line'], 'error' | 'tokens' | 'metadata'> & {
  readonly error?: CodeAndType;
  readonly tokens?: TokenCounts;
  readonly metadata?: Readonly<Record<string, string>>;
};

export interface ShownTry {
  readonly started_ms: number;
  readonly duration_ms: number;
  readonly waited_ms?: number;
  readonly in_line_ms?: number;
  readonly outcome: string;
  readonly status?: number;
  readonly error?: CodeAndType;
}

interface ShownFailure extends CodeAndType {
  readonly status?: number;
  readonly kinds?: readonly string[];
  readonly upstream_kind?: string;
  readonly upstream_message?: string;
  readonly upstream_param?: string;
}

export interface ShownAttempt {
  readonly target: string;
  readonly target_name?: string;
  readonly provider?: string;
  readonly request_model?: string;
  readonly why: string;
  readonly started_ms?: number;
  readonly duration_ms?: number;
  readonly first_content_ms?: number;
  readonly outcome: string;
  readonly answered?: boolean;
  readonly failure?: ShownFailure;
  readonly tokens?: TokenCounts;
  readonly cost_usd?: number;
  readonly cost_unknown?: string;
  readonly cache?: string;
  readonly losses?: readonly string[];
  readonly tries: readonly ShownTry[];
}

interface ShownSkip {
  readonly target: string;
  readonly target_name?: string;
  readonly provider?: string;
  readonly reason: string;
  readonly after: number;
}

/** One comparison of a condition, with the value that the request had. */
export interface ShownTest {
  readonly field: string;
  readonly operator?: string;
  readonly wanted?: unknown;
  readonly found?: unknown;
  readonly holds?: boolean;
  readonly at?: ShownPlace;
  readonly inner?: readonly ShownTest[];
}

export interface ShownBranch {
  readonly at: string;
  readonly held: string;
  readonly to: string;
  readonly tests?: readonly ShownTest[];
}

/** The record of a request. */
export interface ShownRequest extends CodeAndType {
  readonly request_id: string;
  readonly explain_id?: string;
  readonly time: string;
  readonly state: 'complete' | 'failed' | 'aborted' | 'running';
  readonly status?: number;
  readonly duration_ms: number;
  readonly overhead_ms?: number;
  readonly first_content_ms?: number;
  readonly method?: string;
  readonly path?: string;
  readonly key_id?: string;
  readonly team?: string;
  readonly alias?: string;
  readonly config?: { readonly id: string; readonly hash: string };
  readonly settings_hash?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly stream?: boolean;
  readonly cache?: string;
  readonly cost_usd?: number;
  readonly cost_unknown?: string;
  readonly error?: CodeAndType;
  readonly limited_by?: string;
  readonly client_ip?: string;
  readonly client_left?: string;
  readonly origin?: string;
  readonly retries?: number;
  readonly attempts: readonly ShownAttempt[];
  readonly skipped: readonly ShownSkip[];
  readonly conditions?: readonly ShownBranch[];
}

/** The source of a field in an explanation. */
export interface ShownSource {
  readonly kind: 'client' | 'header' | 'settings' | 'plugin' | 'gateway';
  readonly path?: string;
  readonly name?: string;
  readonly at?: ShownPlace;
  readonly plugin?: string;
  readonly on?: ShownPlace;
  readonly what?: string;
}

export interface ShownTarget {
  readonly number: number;
  readonly target: string;
  readonly name?: string;
  readonly at?: ShownPlace;
  readonly why: string;
  readonly health?: { readonly state: string; readonly enforced: boolean };
  readonly provider?: { readonly slug: string; readonly model: string; readonly at?: ShownPlace };
  readonly body?: unknown;
  readonly changes?: readonly {
    readonly path: string;
    readonly action: string;
    readonly value?: unknown;
    readonly was?: unknown;
    readonly source: ShownSource;
  }[];
  readonly outbound?: {
    readonly method: string;
    readonly url: string;
    readonly headers: readonly { readonly name: string; readonly value: string; readonly source?: ShownSource }[];
    readonly body?: unknown;
    readonly diff?: readonly {
      readonly path: string;
      readonly sent?: string;
      readonly source?: ShownSource;
    }[];
  };
  readonly losses?: readonly { readonly param: string; readonly action: string; readonly reason: string }[];
  readonly refused?: { readonly status?: number; readonly code?: string; readonly message?: string };
}

interface ShownRule {
  readonly index: number;
  readonly at?: ShownPlace;
  readonly holds?: boolean;
  readonly tests: readonly ShownTest[];
}

/** The explanation of a request that was sent, or would be. */
export interface ShownExplanation {
  readonly settings: { readonly folder?: string; readonly hash: string };
  readonly request: {
    readonly id: string;
    readonly method: string;
    readonly path: string;
    readonly model?: string;
    readonly alias?: { readonly of: string; readonly at?: ShownPlace };
  };
  readonly caller?: { readonly key: string; readonly found: string; readonly at?: ShownPlace };
  readonly config?: {
    readonly id: string;
    readonly name?: string;
    readonly found: string;
    readonly source: ShownSource;
  };
  readonly metadata?: Readonly<Record<string, string>>;
  readonly plugins?: readonly {
    readonly chain: string;
    readonly target?: number;
    readonly name: string;
    readonly plugin: string;
    readonly on: ShownSource;
    readonly state: string;
    readonly does?: string;
  }[];
  readonly rules?: readonly {
    readonly conditional: string;
    readonly conditions: readonly ShownRule[];
    readonly to: string;
    readonly otherwise: boolean;
  }[];
  readonly targets: readonly ShownTarget[];
  readonly leftOut?: readonly {
    readonly target: string;
    readonly name?: string;
    readonly at?: ShownPlace;
    readonly reason?: string;
    readonly why?: string;
  }[];
  readonly answer?: {
    readonly status?: number;
    readonly code?: string;
    readonly message?: string;
    readonly at?: ShownPlace;
  };
  readonly notes?: readonly string[];
}
