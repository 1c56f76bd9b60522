import type { AnthropicEntry as AnthropicSettings } from '../../../../schemas/types.generated.ts';
import { MODEL_TASKS } from '../../operations/tasks.ts';
import type { ModelTask } from '../../../plugin/index.ts';
import type { Report } from '../../kernel/report.ts';
import { readApiKey, readBareBase, type Base } from '../entry-settings.ts';
import { defineProvider, type OpenableEntry } from '../definition.ts';
import { checkModelName, unsupportedTask } from '../model-name.ts';
import type { Quirks } from '../provider.ts';

/** The live version that accepts sampling parameters (docs/protocols/anthropic-messages.md#versions). */
const HEADERS = Object.freeze({ 'anthropic-version': '2023-06-01' });

const PATHS: Readonly<Partial<Record<ModelTask, string>>> = {
  generate: '/v1/messages',
  count_tokens: '/v1/messages/count_tokens',
};

const TASKS = new Set(MODEL_TASKS.filter((task) => PATHS[task] !== undefined));

/**
 * "32 MB" (docs/protocols/anthropic-messages.md#limits) in binary units, as the API's own refusals count. Other rules
 * about PDFs depend on the content of the file; the API checks them.
 */
const QUIRKS: Quirks = { bodyLimit: { bytes: 32 * 1024 * 1024, words: 'the Anthropic API (32 MB)' } };

function createEntry(entry: AnthropicSettings, base: Base, apiKey: string): OpenableEntry {
  const credentials = Object.freeze({ 'x-api-key': apiKey });
  return {
    slug: entry.slug,
    provider: 'anthropic',
    semconvName: 'anthropic',
    allowInsecure: entry.allow_insecure ?? false,
    /** The name goes into the body, not into the path. Names that are unsafe in a path are refused too: no model here has one. */
    locate(model, { task }) {
      checkModelName(model);
      const path = PATHS[task];
      if (path === undefined) throw unsupportedTask(model, task);
      return {
        origin: base.origin,
        path: base.prefix + path,
        format: 'anthropic-messages',
        model,
        host: 'direct',
        headers: HEADERS,
        quirks: QUIRKS,
      };
    },
    authorize: () => credentials,
    proof: { origin: base.origin, path: `${base.prefix}/v1/models?limit=1`, headers: HEADERS },
  };
}

const BASE = {
  origin: 'https://api.anthropic.com',
  mistake: /\/v1(?:\/messages(?:\/count_tokens)?)?$/,
  added: '/v1 and the rest',
};

/** Warns of names in Vertex AI's form and of other vendors. With a `base_url` any name may be valid. */
function checkParams({ base_url: url }: AnthropicSettings, { model }: AnthropicParams, report: Report): void {
  if (typeof model !== 'string' || url !== undefined) return;
  if (/^(?:claude[-*]|\*)/.test(model) && !VERTEX_DATE.test(model)) return;
  const suggestion = model.replace(VERTEX_PREFIX, '').replace(VERTEX_DATE, '-');
  const message = "this is not a model name of Anthropic's API: names begin with claude- and end with a date after a -";
  const problem = { path: ['model'], severity: 'warning', message } as const;
  report(suggestion === model ? problem : { ...problem, suggestion });
}

type AnthropicParams = Readonly<Record<string, unknown>>;

const VERTEX_PREFIX = /^(?:anthropic|familya)\./;
const VERTEX_DATE = /@(?=[0-9]{8}$)/;

export const anthropic = defineProvider<AnthropicSettings>({
  name: 'anthropic',
  create(entry, { report }) {
    const base = readBareBase(entry, BASE, report);
    const apiKey = readApiKey(entry.api_key, report);
    return base && apiKey !== undefined ? createEntry(entry, base, apiKey) : undefined;
  },
  checkParams,
  tasksOf: () => TASKS,
  speaks: () => [{ format: 'anthropic-messages', host: 'direct' }],
});
