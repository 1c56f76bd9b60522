import type { RecordJson } from '../../../core/record/record-query.ts';

/** The parts of the JSON of a record that a case is made of (core/record/fields/). */
export interface CaseRecord extends RecordJson {
  readonly request_id: string;
  readonly time: string;
  readonly state: string;
  readonly method?: string;
  readonly path?: string;
  readonly operation?: string;
  readonly stream?: boolean;
  readonly conditions?: readonly {
    readonly tests?: readonly { readonly field: string; readonly found: string | number | boolean | null }[];
  }[];
  readonly attempts: readonly AttemptJson[];
  readonly skipped: readonly SkipJson[];
}

interface SkipJson {
  readonly target: string;
  readonly target_name?: string;
  readonly reason: string;
  readonly after: number;
}

export interface AttemptJson {
  readonly target: string;
  readonly provider?: string;
  readonly request_model?: string;
  readonly url?: string;
  readonly outcome?: string;
  readonly answered?: boolean;
  readonly cache?: string;
  readonly failure?: FailureJson;
  readonly tries: readonly TryJson[];
}

interface FailureJson {
  readonly code?: string;
  readonly upstream_kind?: string;
  readonly upstream_message?: string;
  readonly upstream_param?: string;
  readonly upstream_code?: string;
  readonly retry_after_ms?: number;
}

export interface TryJson {
  readonly status?: number;
  readonly outcome?: string;
  readonly error?: { readonly code?: string };
}
