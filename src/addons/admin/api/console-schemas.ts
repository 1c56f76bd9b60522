import { SCHEMA_NAMES, type Schema } from '../../../core/settings/schema/schema-files.ts';
import { BASE, ID, flag, integer, list, object, own, text } from './schema-words.ts';

// Bodies of the calls of console-routes.ts.

/** An entry of catalog.yaml. The loader of the settings checks it, with the messages of `gatehouse validate`. */
export const ENTRY: Schema = {
  description:
    'An entry of `providers` of catalog.yaml, `provider` among its fields. A secret is the secret itself, `${env:NAME}` or `${file:PATH}`.',
  type: 'object',
  minProperties: 1,
  examples: [{ provider: 'simulator' }],
};
/** A config of the state store. The loader of the settings checks its text. */
export const CONFIG: Schema = object(
  {
    text: text('The text of a file of gateway/: YAML, without references to the environment or to files.', {
      maxLength: 60_000,
      examples: ['provider: "@simulator"\n'],
    }),
  },
  // One in a file has its text there.
  [],
);
const MODEL = text('A model of the entry, for a small call. Default: the first of its models.', { maxLength: 256 });

export const VERSION = integer('The number of the version.', { minimum: 1, maximum: 999_999 });
export const LABEL = text('Not `latest`.', { pattern: '^[A-Za-z][A-Za-z0-9._-]{0,63}$', examples: ['production'] });
/** The whole version is checked with the prompt in which it would be. */
const DRAFT: Schema = {
  description: 'A version that is not saved, with the fields of a version in a file of `prompts/`.',
  type: 'object',
  examples: [{ text: 'Summarise: {{ticket}}', variables: { ticket: {} } }],
};
const VALUES: Schema = {
  description: 'Values of its variables.',
  type: 'object',
  examples: [{ ticket: 'It does not start.' }],
};
/** The keywords bound what a check costs. */
const VALUE: Schema = {
  ...(SCHEMA_NAMES.includes('prompt') ? { $ref: `${BASE}prompt.json#/definitions/value` } : { type: 'object' }),
  description: 'The reply is JSON that fits this schema, with the keywords of a schema of a variable.',
};
const OF_PROMPT = {
  version: text('A number or a label. Default: the latest.', { maxLength: 64, examples: ['production'] }),
  draft: DRAFT,
};
/** The reader of the texts knows which names there are. */
const FILES: Schema = {
  description:
    'Texts by the names of files, such as `{"gateway/production.yaml": "…"}`; `store/configs/ID` is one of the store.',
  type: 'object',
  additionalProperties: { type: 'string' },
  minProperties: 1,
  maxProperties: 16,
  examples: [{ 'gateway/production.yaml': 'provider: "@simulator"\n' }],
};

export const CONSOLE_BODIES = {
  render_prompt: object({ ...OF_PROMPT, variables: VALUES }, []),
  run_prompt: object(
    {
      as: text('The id of the key in whose name the requests are sent.', { maxLength: 256 }),
      config: text("A gateway config. Default: the key's own.", { maxLength: 64 }),
      versions: list(object(OF_PROMPT, []), { description: 'They run beside each other.', minItems: 1, maxItems: 2 }),
      cases: list(
        object(
          {
            variables: VALUES,
            text: text('The reply has this text.', { maxLength: 10_000 }),
            schema: VALUE,
          },
          [],
        ),
        { description: 'Values, and what is expected of the reply.', minItems: 1, maxItems: 50 },
      ),
    },
    ['as', 'versions', 'cases'],
  ),
  draft_prompt: object(
    {
      id: ID,
      spec: own('prompt_spec'),
      release: VERSION,
      promote: object({ version: VERSION, label: LABEL }),
    },
    ['id'],
  ),
  create_session: object({ token: text('A token of this API, or `admin.token`.', { maxLength: 512 }) }),
  settings_effect: object(
    {
      files: FILES,
      last: integer('So many of the latest requests that have ended.', { minimum: 1, maximum: 1000, default: 1000 }),
    },
    ['files'],
  ),
  settings_tests: object(
    { files: FILES, filter: text('Only tests with this text in their name or file.', { maxLength: 200 }) },
    ['files'],
  ),
  test_provider: object(
    {
      slug: text('An entry in force. Either this or `entry`.', { maxLength: 64 }),
      entry: ENTRY,
      model: MODEL,
      call: { ...flag('true: the last step is a small call of the model, which costs.'), default: false },
    },
    [],
  ),
  draft_provider: object({ id: ID, spec: ENTRY }),
  draft_key: object({
    id: ID,
    spec: { description: 'The fields of an entry of keys.yaml without its secret.', type: 'object', examples: [{}] },
  }),
  edited_settings: object(
    {
      files: FILES,
      base: text('The hash of the settings that were edited.', { maxLength: 128 }),
    },
    ['files'],
  ),
  draft_price: object({ id: ID, spec: own('price_spec') }),
  playground: object(
    {
      as: text('The id of the key in whose name the request is sent.', { maxLength: 256 }),
      method: text('Of HTTP.', { enum: ['GET', 'POST'], default: 'POST' }),
      path: text('With its query.', { default: '/v1/chat/completions', pattern: '^/[!-~]*$', maxLength: 2048 }),
      headers: {
        description: 'Headers of the client, without credentials.',
        type: 'object',
        additionalProperties: { type: 'string', maxLength: 8192 },
        maxProperties: 50,
      },
      body: { description: 'The body of the client, as JSON.' },
    },
    ['as'],
  ),
} satisfies Readonly<Record<string, Schema>>;
