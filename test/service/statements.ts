/** What the service promises, statement by statement, each with the tests that hold it. */

/** Path of a test file below the repository, and a test title in it as the file has it. */
export type TestOf = readonly [file: string, title: string];

export interface Statement {
  readonly text: string;
  readonly tests: readonly TestOf[];
}

export interface Chapter {
  readonly title: string;
  readonly statements: readonly Statement[];
}

const of = (text: string, ...tests: readonly TestOf[]): Statement => ({ text, tests });
const http = (file: string, title: string): TestOf => [`test/http/${file}.test.ts`, title];
const client = (file: string, title: string): TestOf => [`test/clients/${file}.test.ts`, title];
const provider = (file: string, title: string): TestOf => [`test/providers/${file}.test.ts`, title];
const unit = (file: string, title: string): TestOf => [`${file}.test.ts`, title];

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
        ['test/telemetry/otlp.test.ts', 'brings a collector the span tree'],
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
        http('configs', 'becomes cost labels on Vertex AI'),
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
    ],
  },
  {
    title: 'Catalog entries',
    statements: [
      of(
        'An entry has a slug of the operator’s choice.',
        client('portkey-headers', 'names the catalog entry by `provider`, with and without @'),
      ),
      of(
        'An entry of the cloud platform has the JSON file of a service account and a region.',
        unit('src/providers/vertex-ai/vertex-ai', 'a vertex-ai entry with a service account'),
        provider('credential-sources', 'uses a credentials file, and shows nothing of it'),
      ),
      of(
        'An entry of the cloud platform may have project and region only. Requests then carry an access token in `Authorization`.',
        http('details-request', 'takes the caller’s token, sent %s its scheme'),
        http('details-request', 'asks for a token where the caller has sent none, and asks no upstream'),
      ),
      of(
        'An entry of the vendor’s API has its key. Requests carry only the gateway’s key.',
        http('details-request', 'is never sent a caller’s token that an entry with a key has no use for'),
      ),
    ],
  },
  {
    title: 'Model names',
    statements: [
      of('`@slug/model` names entry and model.', http('routing', 'where a request goes')),
      of(
        'A bare model name goes with the entry of `x-gateway-provider`, or the SDK’s `provider`.',
        client('portkey-headers', 'names the catalog entry by `provider`, with and without @'),
      ),
      of(
        '`familya.` or `anthropic.` names models of the first family on the cloud platform, with a version date behind `@`.',
        unit('src/providers/vertex-ai/locations', '%j (stream %s) has the path %s'),
      ),
      of(
        '`familyb.` or `meta.` names models of the second family on the cloud platform.',
        provider('vertex-models', 'chats'),
      ),
      of('`endpoints.` names a self-deployed model and routes to its endpoint.', provider('vertex-models', 'chats')),
      of(
        'Without `endpoints.` the name of an endpoint is a standard model.',
        provider('vertex-models', 'of an endpoint without its prefix is a standard model'),
      ),
      of(
        'Dated names, `-latest` aliases and preview names go upstream as written.',
        http('routing', 'with its model overridden and every other byte as it came, where both sides speak the same'),
      ),
    ],
  },
  {
    title: 'Chat completions',
    statements: [
      of(
        '`POST /v1/chat/completions` takes OpenAI’s body; `model` and `messages` are required.',
        http('bad-input', 'bad input'),
      ),
      of(
        'Streams have the chunks of OpenAI’s API.',
        provider('vertex-models', 'streams'),
        http('replies', 'is an event stream when it streams, and may not be cached'),
      ),
      of(
        '`thinking` asks for extended thinking with a budget.',
        unit('src/formats/gemini/encode-request', 'thinking by model'),
        unit('src/formats/anthropic-messages/encode-request', 'encodeRequest: thinking'),
      ),
      of(
        '`budget_tokens: 0` turns thinking off for the second generation of reasoning models.',
        http('details-request', 'stops a model of the second generation'),
      ),
      of(
        '`modalities` asks for text or images.',
        http('details-turns', 'with a made image are edited in a later turn'),
      ),
      of(
        '`labels` of the body or of `override_params` are cost labels on the cloud platform.',
        http('details-request', 'of the body go to Vertex as they are'),
        http('details-request', 'of override_params win key by key'),
      ),
      of(
        'System messages are converted for the vendor’s API; their content may be a list of text parts.',
        unit('src/formats/anthropic-messages/encode-request', 'hoists every system turn, with its cache marker'),
      ),
      of(
        'Assistant messages carry calls, and tool messages their results by `tool_call_id`.',
        provider('vertex-models', 'calls tools, plain and streamed'),
      ),
      of(
        'With the compliance flag false, replies carry thinking in `content_blocks`, `thought_signature` and `content_parts`.',
        client('portkey-headers', 'sees thinking unless it wants strict compliance'),
        http('details-request', 'the compliance flag'),
      ),
      of(
        'With the compliance flag true, replies have the text of the answer only.',
        unit(
          'src/formats/openai-chat/laws',
          'shows a strict client no trace of thinking, signatures or generated images',
        ),
      ),
      of(
        '`thought_signature` of a call comes back unchanged in the next request.',
        http('details-turns', 'keep the signatures of calls, texts and images over several turns'),
      ),
      of(
        'Thinking of Gemini need not come back; thinking of Claude comes back with its signature.',
        http('details-turns', 'thoughts of Gemini may be sent back where nothing may be lost'),
        http('messages-translated', 'goes back as it came'),
      ),
      of(
        'Chain of thought that a model writes inline is joined with the answer by `\\r\\n\\r\\n`, or set apart.',
        http('details-turns', 'of a model that thinks inline set its thoughts apart'),
      ),
      of(
        '`content_parts` of an image answer can be sent back and edited.',
        http('details-turns', 'with a made image are edited in a later turn'),
      ),
    ],
  },
  {
    title: 'Content parts and media',
    statements: [
      of(
        'Data URIs carry images, PDFs, sound and video.',
        http('media-limits', 'as %s is inline data of Gemini'),
        http('details-request', 'as %s reaches Gemini'),
      ),
      of('`file` parts carry `mime_type` and `file_data`.', http('details-request', 'as %s reaches Claude')),
      of('`gs://` addresses reach the cloud platform.', http('media-limits', 'at %s is file data of Gemini')),
      of(
        'Public `https://` addresses reach models that fetch them, and are inlined for others where the config allows it.',
        http('media', 'a chat request with media by URL for Claude on Vertex AI'),
      ),
      of(
        'The extension of an address gives its MIME type; an unknown one is a 400.',
        http('details-request', 'that end in .%s are %s to Gemini'),
        http('details-request', 'of an unknown type are a 400: %s'),
      ),
      of(
        'The vendor’s API takes base64 images and no addresses of images.',
        http('details-request', 'are a 400 to Claude, which is sent base64 only'),
      ),
      of('PDF requests to the vendor’s API have at most 32 MB.', http('media-limits', 'a request larger than 32 MB')),
      of(
        'Pages, encryption and models that read no PDF are refused by the vendor, and its message names the rule.',
        http('media-limits', 'is a 400 with a message of its own, on both routes: %s (%s)'),
      ),
      of(
        '`thinking` parts with a signature go back to the model that made them.',
        http('details-turns', 'brings each its own signatures and neither the other’s'),
      ),
    ],
  },
  {
    title: 'Tools',
    statements: [
      of(
        'Functions have a name, a description and a JSON Schema.',
        provider('vertex-models', 'calls tools, plain and streamed'),
      ),
      of(
        '`web_search` and `web_search_retrieval` ask for search grounding on the cloud platform.',
        http('details-tools', '%s is asked for alone'),
      ),
      of(
        'Sources of grounded answers are citations.',
        http('details-tools', 'tells its sources as citations, and to clients that are not strict as they came'),
      ),
      of(
        'Search beside functions goes upstream, and the platform’s refusal comes back.',
        http('details-tools', 'beside functions goes on, and what Google says to it comes back'),
      ),
      of(
        '`computer_use` and `computerUse` open the browser tool; actions may have empty arguments.',
        http('details-tools', '%s opens the browser'),
      ),
      of(
        'The caller reports the result of an action in a user message.',
        http('details-tools', 'goes on with a user message as the result of its actions, over several turns'),
      ),
    ],
  },
  {
    title: 'Messages',
    statements: [
      of(
        '`POST /v1/messages` takes the vendor’s body and answers in its format.',
        http('messages-native', 'with %s arrives as it was written'),
        http('messages-native', 'of %s comes back byte by byte, with the headers clients read'),
      ),
      of(
        'The vendor’s SDK works with its base address and the gateway’s key.',
        http('messages-translated', 'may be given to the SDK as its own'),
      ),
      of(
        'It serves the first model family on both upstreams; `messages_route: claude` refuses others.',
        http('messages-errors', 'serves Claude on both upstreams, and refuses other models with the way to go'),
      ),
      of(
        'Caching and configs apply to it.',
        http('messages-errors', 'of %s answers the same request, plain and as a stream'),
        http('messages-fallback', 'when the first %s is one whole stream of the second'),
      ),
      of(
        '`anthropic-beta` and `x-gateway-anthropic-beta` go upstream.',
        http('messages-native', 'have the betas of %s, on both routes'),
      ),
    ],
  },
  {
    title: 'Embeddings, images, token counts',
    statements: [
      of(
        'Embeddings have OpenAI’s body and reply, and `task_type` besides.',
        http('embeddings', 'reach the OpenAI SDK, which asks for base64 unless told otherwise'),
        http('embeddings', 'say what the target could not express, or are refused where the caller wants that'),
      ),
      of(
        '`POST /v1/images/generations` draws with Imagen 3 and its older versions.',
        http('images', 'draws for the openai SDK'),
      ),
      of(
        'Tokens are counted before a request is sent.',
        http(
          'token-counts',
          'counts for Anthropic’s client: system, tools, thinking and unknown fields are counted too',
        ),
        http('token-counts', 'asks Gemini with the caller’s own bytes and gives back what came'),
      ),
    ],
  },
  {
    title: 'Authentication',
    statements: [
      of(
        'Every request carries the gateway’s key, in `x-gateway-api-key` or as the SDK’s own key.',
        http('routing', 'is found in %s and never travels upstream'),
      ),
      of(
        '`x-gateway-config` selects a gateway config.',
        client('portkey-headers', 'chooses a gateway config by `config`'),
      ),
      of(
        'A service account in the catalog needs no `Authorization` of the caller.',
        http('credentials', 'Google access tokens'),
      ),
      of(
        'Without the catalog, project, region, provider and token come with the request.',
        http('credentials', 'go to Google with the caller’s token and nowhere else'),
      ),
    ],
  },
  {
    title: 'Errors',
    statements: [
      of(
        'A service account without `aiplatform.endpoints.predict` fails with the name of the permission.',
        provider('vertex-models', 'tells of a refusal in the words of the upstream (stream %s)'),
      ),
      of(
        'Errors have the shape of the client’s API, and SDKs throw their own classes.',
        client('errors', 'and throws $name for a $status'),
        http('messages-errors', 'when %s is in Anthropic’s words, with our id'),
      ),
    ],
  },
];
