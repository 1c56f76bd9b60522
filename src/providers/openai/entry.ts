import type { OpenableEntry } from '../definition.ts';
import type { Call, Location, ProviderEntry } from '../provider.ts';
import { unsupportedTask } from '../model-name.ts';
import { OPERATIONS, type OpenAiOperation } from './operations.ts';

type Headers = Readonly<Record<string, string>>;

/** Where one request goes at the entry's origin. */
export interface Place {
  readonly path: string;
  /** Name for the body. */
  readonly model: string;
}

/** What OpenAI, the servers compatible with it and Azure have each in their own way. */
export interface EntryParts extends Pick<ProviderEntry, 'slug' | 'provider' | 'semconvName' | 'allowInsecure'> {
  readonly origin: string;
  readonly headers: Headers;
  readonly credentials: Headers;
  readonly streamUsage: boolean;
  /** Throws GatewayError `invalid_model`. */
  readonly place: (model: string, operation: OpenAiOperation) => Place;
}

export class OpenAiApiEntry implements OpenableEntry {
  readonly slug: string;
  readonly provider: ProviderEntry['provider'];
  readonly semconvName: string;
  readonly allowInsecure: boolean;
  readonly #parts: EntryParts;

  constructor(parts: EntryParts) {
    this.slug = parts.slug;
    this.provider = parts.provider;
    this.semconvName = parts.semconvName;
    this.allowInsecure = parts.allowInsecure;
    this.#parts = parts;
  }

  locate(model: string, { task }: Call): Location {
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

  authorize(): Headers {
    return this.#parts.credentials;
  }
}
