import type { OpenableEntry } from '../definition.ts';
import type { ModelCall, Location, ProviderEntry, UpstreamCaller } from '../provider.ts';
import { unsupportedTask } from '../model-name.ts';
import { OPERATIONS, type OpenAiOperation } from './operations.ts';

type EntryHeaders = Readonly<Record<string, string>>;

/** The path of a request at the entry's origin. */
export interface ApiPath {
  readonly path: string;
  /** The model name for the body. */
  readonly model: string;
}

/** The parts that differ between OpenAI, compatible servers and Azure. */
export interface EntryParts extends Pick<
  ProviderEntry,
  'slug' | 'provider' | 'semconvName' | 'allowInsecure' | 'chosenByCaller'
> {
  readonly origin: string;
  readonly headers: EntryHeaders;
  /** `caller`: the caller's own token, if the request has one. */
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

/** Without a key there is no header rather than an empty bearer. */
function bearerOf({ upstreamToken }: UpstreamCaller): EntryHeaders {
  const token = upstreamToken?.reveal() ?? '';
  return /^[\x21-\x7e]+$/.test(token) ? { authorization: `Bearer ${token}` } : {};
}
