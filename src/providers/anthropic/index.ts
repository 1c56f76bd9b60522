import type { AnthropicEntry as AnthropicSettings } from '../../../schemas/types.generated.ts';
import { readApiKey } from '../api-key.ts';
import { readBase, type Base } from '../base-url.ts';
import { defineProvider, type OpenableEntry } from '../definition.ts';
import { checkModelName, unsupportedTask } from '../model-name.ts';
import type { Call, Location } from '../provider.ts';
import type { Quirks } from '../quirks.ts';

/** Both live versions keep stream, blocks and events; this one still takes sampling parameters (wire.md finding 1). */
const HEADERS = Object.freeze({ 'anthropic-version': '2023-06-01' });

const PATHS: Readonly<Partial<Record<Call['task'], string>>> = {
  generate: '/v1/messages',
  count_tokens: '/v1/messages/count_tokens',
};

/**
 * "32 MB" of a Messages request (wire.md B3, B7), counted as the API counts: its own refusals give 5 MB as 5242880 bytes. What
 * else makes a PDF unusable (pages, a password, the model) is in the file, and the API's to say.
 */
const QUIRKS: Quirks = { bodyLimit: { bytes: 32 * 1024 * 1024, words: 'the Anthropic API (32 MB)' } };

class AnthropicEntry implements OpenableEntry {
  readonly slug: string;
  readonly provider = 'anthropic';
  readonly semconvName = 'anthropic';
  readonly allowInsecure: boolean;
  readonly #origin: string;
  readonly #prefix: string;
  readonly #credentials: Readonly<Record<string, string>>;

  constructor(entry: AnthropicSettings, base: Base, apiKey: string) {
    this.slug = entry.slug;
    this.allowInsecure = entry.allow_insecure ?? false;
    this.#origin = base.origin;
    this.#prefix = base.prefix;
    this.#credentials = Object.freeze({ 'x-api-key': apiKey });
  }

  /** The name goes into the body, not into the path; the same names are refused, for no model here has such a one. */
  locate(model: string, { task }: Call): Location {
    checkModelName(model);
    const path = PATHS[task];
    if (path === undefined) throw unsupportedTask(model, task);
    return {
      origin: this.#origin,
      path: this.#prefix + path,
      format: 'anthropic-messages',
      model,
      host: 'direct',
      headers: HEADERS,
      quirks: QUIRKS,
    };
  }

  authorize(): Readonly<Record<string, string>> {
    return this.#credentials;
  }
}

export const anthropic = defineProvider<AnthropicSettings>({
  name: 'anthropic',
  create(entry, { report }) {
    const base = readBase(entry, 'https://api.anthropic.com', report);
    const apiKey = readApiKey(entry.api_key, report);
    return base && apiKey !== undefined ? new AnthropicEntry(entry, base, apiKey) : undefined;
  },
});
