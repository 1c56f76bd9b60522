import { client, http, of, provider, unit, type Chapter } from './statement.ts';

/** Requests to models and their replies. */
export const REQUESTS: readonly Chapter[] = [
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
      of(
        'Streamed thinking is in `delta.content_blocks`.',
        unit('src/formats/openai-chat/encode-stream', 'is shown to a client that is not strict'),
        http('details-turns', 'keep the signatures of calls, texts and images over several turns'),
      ),
      of(
        'Models that write `<think>` into their answer are read as models that think apart: a strict client gets the answer alone.',
        http('inline-thinking', 'does not reach a strict client of %s'),
        http('inline-thinking', 'reaches other clients joined to the answer, and apart from it in content_blocks'),
      ),
      of(
        'A request without `max_tokens` gets a limit for the vendor’s API, which demands one; a header names it.',
        http('max-tokens-default', 'gets the limit of the Claude model and a header that names it, and loses nothing'),
        http('max-tokens-default', 'gets the number of its gateway config'),
      ),
      of(
        'A request without `max_tokens` for the vendor’s API is a 400 where the settings refuse a default.',
        http('max-tokens-default', 'is refused where the config refuses it, and sends nothing'),
      ),
      of('`max_tokens` of the caller never changes.', http('max-tokens-default', 'keeps the limit of its caller')),
      of(
        'SDKs send and read all fields that OpenAI’s API does not have.',
        client('chat-bodies', 'sees thoughts as `content_blocks`, and sends those of Claude back with their signature'),
        client('chat-bodies', 'gets an image as `content_parts`, and sends it back to be edited'),
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
      of(
        'The vendor’s API gets addresses of images where the config passes them on.',
        http('named-tools', 'the URL of an image passes to Anthropic only where the config says so'),
      ),
      of(
        'Documents of text are plain text to the vendor’s models.',
        unit('src/formats/anthropic-messages/encode-request', 'sends %o as Claude’s block'),
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
        '`web_search` asks for the vendor’s own search at other upstreams that have one.',
        http('named-tools', 'a bare web_search is the own search of %s, with citations'),
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
      of(
        'Computer use without its model or without the flag is refused with the reason.',
        http('details-tools', 'without %s is explained where it is refused'),
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
      of(
        '`input` of an embeddings request and `prompt` of an images request are required.',
        unit('src/core/operations/embeddings', 'is refused as %j because of %s'),
        unit('src/core/operations/images', 'refuses %j and names the field'),
      ),
      of(
        '`task_type` of an embeddings request reaches the cloud platform.',
        client('chat-bodies', 'openai makes vectors for a task, which its types do not have'),
      ),
      of(
        'Tokens of chat requests and in the cloud platform’s own words are counted, too.',
        http('token-counts', 'asks Claude and Gemini in their own words'),
        http('token-counts', 'asks about Claude, and answers in Google’s words'),
      ),
      of(
        'An upstream without a count is a 501, or an estimate that the reply marks, as its entry says.',
        http('token-counts', 'says with 501 that OpenAI cannot count, and tells SDKs not to retry'),
        http('token-counts', 'estimates where the entry says so, without a call, and marks the reply'),
      ),
    ],
  },
];
