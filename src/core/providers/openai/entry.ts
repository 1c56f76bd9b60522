import type { ApiChoice, UnknownIds } from '../../../../schemas/types.generated.ts';
import type { ModelTask } from '../../../plugin/index.ts';
import type { Codec } from '../codec.ts';
import type { OpenableEntry } from '../definition.ts';
import { unsupportedTask } from '../model-name.ts';
import { scopeOf } from '../entry-settings.ts';
import type { Location, ModelCall, ProviderEntry, UpstreamCaller } from '../provider.ts';
import { openAiCompletions, openAiImages, openAiSpeech, openAiTranscriptions } from './event-tasks.ts';
import { openAiEmbeddings, openAiModerations } from './whole-replies.ts';

/** Path under the base of the API (docs/protocols/openai-chat.md#transport); a codec for all but conversations. */
interface OpenAiOperation {
  readonly path: string;
  readonly codec?: Codec;
}

export const OPERATIONS: Readonly<Partial<Record<ModelTask, OpenAiOperation>>> = {
  generate: { path: '/chat/completions' },
  embeddings: { path: '/embeddings', codec: openAiEmbeddings },
  images: { path: '/images/generations', codec: openAiImages },
  completions: { path: '/completions', codec: openAiCompletions },
  moderations: { path: '/moderations', codec: openAiModerations },
  transcriptions: { path: '/audio/transcriptions', codec: openAiTranscriptions },
  translations: { path: '/audio/translations', codec: openAiTranscriptions },
  image_edits: { path: '/images/edits', codec: openAiImages },
  image_variations: { path: '/images/variations', codec: openAiImages },
  speech: { path: '/audio/speech', codec: openAiSpeech },
};

const OF_RESPONSES: Readonly<Partial<Record<ModelTask, string>>> = {
  generate: '/responses',
  count_tokens: '/responses/input_tokens',
};

/** From GPT-5.4 on, chat completions refuse tools together with reasoning (docs/protocols/openai-responses.md#request). */
const NEEDS_RESPONSES = /(?<![a-z0-9])gpt-?(?:5\.(?:[4-9]|\d\d)|[6-9]|\d\d)(?![0-9])/i;

/** Why a request goes to the Responses API; undefined for one that goes to chat completions. */
function responsesReason(api: ApiChoice, model: string, { client, tools }: ModelCall): string | undefined {
  if (api === 'responses') return 'api: responses';
  if (api === 'chat') return undefined;
  if (client === 'openai-responses') return "api: auto, the client's own API";
  return tools && NEEDS_RESPONSES.test(model)
    ? 'api: auto, this model takes tools with reasoning only there'
    : undefined;
}

const NO_RESPONSES =
  'api: auto, and the gateway does not know whether this server has the Responses API: api: responses says so';

type EntryHeaders = Readonly<Record<string, string>>;

export interface EntryParts extends Pick<
  ProviderEntry,
  'slug' | 'provider' | 'semconvName' | 'allowInsecure' | 'chosenByCaller' | 'proof'
> {
  readonly origin: string;
  readonly headers: EntryHeaders;
  /** `caller`: the caller's own token, if the request has one. */
  readonly credentials: EntryHeaders | 'caller';
  readonly streamUsage: boolean;
  readonly api: ApiChoice;
  /** `auto` may choose the Responses API: compatible servers rarely have it. */
  readonly hasResponses: boolean;
  readonly extensions: Location['extensions'] | undefined;
  /** The chat API of the server takes free-text tools. */
  readonly customTools: boolean;
  readonly unknownIds?: UnknownIds | undefined;
  /** The path of a request at the origin, and the model name for the body. Throws GatewayError `invalid_model`. */
  readonly place: (model: string, operationPath: string) => Pick<Location, 'path' | 'model'>;
}

export function openAiApiEntry(parts: EntryParts): OpenableEntry {
  const {
    origin,
    headers,
    credentials,
    streamUsage,
    extensions,
    customTools,
    unknownIds,
    api,
    hasResponses,
    place,
    ...identity
  } = parts;
  // Another organisation refuses this reasoning (docs/protocols/openai-responses.md#encrypted-content).
  const account = [parts.slug, origin, headers['openai-organization'], headers['openai-project']];
  const signatureScope = scopeOf(account);
  return {
    ...identity,
    adHoc: identity.chosenByCaller ?? false,
    usesCallersToken: credentials === 'caller',
    locatesByClient: api === 'auto',
    locate(model, call) {
      const { task } = call;
      const ofResponses = call.compacts ? '/responses/compact' : OF_RESPONSES[task];
      const formatReason = ofResponses && responsesReason(api, model, call);
      if (ofResponses && formatReason !== undefined && (hasResponses || api === 'responses'))
        return {
          origin,
          ...place(model, ofResponses),
          format: 'openai-responses',
          formatReason,
          host: 'direct',
          headers,
          ...(extensions && { extensions }),
          takesUnknownIds: unknownIds === 'pass',
          signatureScope,
        };
      const operation = OPERATIONS[task];
      if (!operation) throw unsupportedTask(model, task);
      const { path, codec } = operation;
      return {
        origin,
        ...place(model, path),
        format: 'openai-chat',
        ...(formatReason !== undefined && { formatReason: NO_RESPONSES }),
        host: 'direct',
        headers,
        streamUsage,
        customTools,
        signatureScope,
        ...(extensions && { extensions }),
        ...(codec && { codec }),
      };
    },
    authorize(caller) {
      return credentials === 'caller' ? bearerOf(caller) : credentials;
    },
  };
}

/** Without a key there is no header rather than an empty bearer. */
function bearerOf({ upstreamToken }: UpstreamCaller): EntryHeaders {
  const token = upstreamToken?.reveal() ?? '';
  return /^[\x21-\x7e]+$/.test(token) ? { authorization: `Bearer ${token}` } : {};
}
