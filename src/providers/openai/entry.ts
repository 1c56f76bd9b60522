import type { OpenableEntry } from '../definition.ts';
import type { ModelCall, Location, ProviderEntry, UpstreamCaller } from '../provider.ts';
import { unsupportedTask } from '../model-name.ts';
import { OPERATIONS, type OpenAiOperation } from './operations.ts';

type EntryHeaders = Readonly<Record<string, string>>;

/** Where one request goes at the entry's origin. */
export interface ApiPath {
  readonly path: string;
  /** Name for the body. */
  readonly model: string;
}

/** What OpenAI, the servers compatible with it and Azure have each in their own way. */
export interface EntryParts extends Pick<
  ProviderEntry,
  'slug' | 'provider' | 'semconvName' | 'allowInsecure' | 'chosenByCaller'
> {
  readonly origin: string;
  readonly headers: EntryHeaders;
  /** `caller`: what the request brings, where it brings something. */
  readonly credentials: EntryHeaders | 'caller';
  readonly streamUsage: boolean;
  /** Throws GatewayError `invalid_model`. */
  readonly place: (model: string, operation: OpenAiOperation) => ApiPath;
}

export class OpenAiApiEntry implements OpenableEntry {
  readonly slug: string;
  readonly provider: ProviderEntry['provider'];
  readonly semconvName: string;
  readonly allowInsecure: boolean;
  readonly chosenByCaller: boolean;
  readonly adHoc: boolean;
  readonly usesCallersToken: boolean;
  readonly #parts: EntryParts;

  constructor(parts: EntryParts) {
    this.slug = parts.slug;
    this.provider = parts.provider;
    this.semconvName = parts.semconvName;
    this.allowInsecure = parts.allowInsecure;
    this.chosenByCaller = parts.chosenByCaller ?? false;
    this.adHoc = this.chosenByCaller;
    this.usesCallersToken = parts.credentials === 'caller';
    this.#parts = parts;
  }

  locate(model: string, { task }: ModelCall): Location {
    const operation = OPERATIONS[task];
    if (!operation) throw unsupportedTask(model, task);
    const { origin, headers, streamUsage, place } = this.#parts;
    return {
      origin,
      ...place(model, operation),
      format: 'openai-chat',
      host: 'direct',
      headers,
      streamUsage,
      ...(operation.codec && { codec: operation.codec }),
    };
  }

  authorize(caller: UpstreamCaller): EntryHeaders {
    const { credentials } = this.#parts;
    return credentials === 'caller' ? bearerOf(caller) : credentials;
  }
}

/** Servers without keys get no header rather than an empty bearer. */
function bearerOf({ upstreamToken }: UpstreamCaller): EntryHeaders {
  const token = upstreamToken?.reveal() ?? '';
  return /^[\x21-\x7e]+$/.test(token) ? { authorization: `Bearer ${token}` } : {};
}
