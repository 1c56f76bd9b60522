/** The APIs of the gateway that agents speak. */
export const API = {
  chat: 'POST /v1/chat/completions',
  responses: 'POST /v1/responses',
  messages: 'POST /v1/messages',
  generate: 'POST /v1beta/models/{model}:streamGenerateContent',
} as const;

export type Api = (typeof API)[keyof typeof API];

/** Which API of the gateway an agent spoke: its page names one. */

const PATHS: Readonly<Record<Api, RegExp>> = {
  [API.chat]: /\/v1\/chat\/completions$/,
  [API.responses]: /\/v1\/responses(?:\/compact)?$/,
  [API.messages]: /\/v1\/messages(?:\/count_tokens)?$/,
  [API.generate]: /:(?:streamGenerateContent|generateContent|countTokens)$/,
};

/** Undefined, or the request to another API. */
export function otherApi(paths: readonly string[], api: Api): string | undefined {
  const other = paths.find((path) => !PATHS[api].test(path));
  return other === undefined ? undefined : `a request to ${other}, not to ${api}`;
}
