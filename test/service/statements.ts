import { ACCESS } from './access.ts';
import { LIBRARY } from './library.ts';
import { REQUESTS } from './requests.ts';
import { client, http, of, provider, type Chapter } from './statement.ts';

/** What the service promises, statement by statement, each with the tests that hold it. */
export const CHAPTERS: readonly Chapter[] = [
  {
    title: 'The service',
    statements: [
      of(
        'Requests in OpenAI’s format reach models of a cloud platform and of a model vendor’s own API.',
        client('conversations', '$name'),
        provider('vertex-models', 'chats'),
      ),
      of(
        'Requests in the vendor’s own messages format have a route of their own.',
        http('messages-native', 'a body for Claude'),
      ),
      of(
        'Credentials are stored once, in a model catalog. Requests name the entry as `@slug/model`.',
        http('routing', 'where a request goes'),
        http(
          'header-paths',
          'holds for keys, too: no gateway key reaches an upstream, and no entry’s key reaches another entry',
        ),
      ),
      of(
        'Chat, embedding, image and self-deployed models are served.',
        ['test/operations/table.test.ts', 'stands there as the gateway does it'],
        http('embeddings', 'of a deployed model have Google’s shape, or are asked for in OpenAI’s by raw_predict'),
      ),
      of(
        'Each request is in the log, the metrics and the traces.',
        http('replies', 'is one line per request when its reply has ended, with tokens, target and timing'),
        [
          'test/telemetry/otlp.test.ts',
          'over http/json brings a collector the span tree, the resource and the headers the environment names',
        ],
      ),
      of(
        'Replies are cached where a config says so.',
        http('cache', 'answers the same request again, with its age, until it is too old'),
      ),
      of(
        'Gateway configs route requests.',
        http('routing', 'moves on until a target answers'),
        http('configs', 'sends each request where its draw falls'),
      ),
      of(
        'Custom metadata labels requests.',
        http(
          'configs',
          'becomes cost labels on Vertex AI, fitted to its rules; labels of the body win and are not rewritten',
        ),
        client('portkey-headers', 'labels requests by `metadata`, and gets an error for invalid ones'),
      ),
      of(
        'Prompt caching of the vendor’s models works: cache markers reach them.',
        http('details-request', 'reach Claude with their time to live'),
      ),
      of(
        'System prompts, images and other content are written as each upstream wants them.',
        ['test/translation/translation.test.ts', 'translated requests'],
        ['test/translation/third-party.test.ts', 'sends the same, but for what has a written reason'],
      ),
      of(
        'Near questions get a stored reply where a config says so.',
        http('semantic-cache', 'gets the reply of the first, with one call for both vectors'),
        http('semantic-cache', 'in the text, too far, is a miss that names the similarity'),
      ),
      of(
        'The models that a key may use are listed for the SDKs of both APIs.',
        http('models', 'lists what entries and gateway configs name, sorted, each once, in OpenAI’s shape'),
        client('library', 'are listed by @anthropic-ai/sdk in Anthropic’s shape'),
      ),
    ],
  },
  ...ACCESS,
  ...REQUESTS,
  ...LIBRARY,
];
