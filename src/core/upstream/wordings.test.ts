import { describe, expect, it } from 'vitest';
import { anthropicMessages } from '../../formats/anthropic-messages/index.ts';
import { gemini } from '../../formats/gemini/index.ts';
import { openaiChat } from '../../formats/openai-chat/index.ts';
import { failureKinds, type ErrorCode, type FailureKind } from '../../plugin/index.ts';
import { toUpstreamError } from './upstream-error.ts';

const FORMATS = { chat: openaiChat, messages: anthropicMessages, gemini };
type Api = keyof typeof FORMATS;

/** The error of a reply with this status and body, as the entry's own credentials got it. */
function errorOf(api: Api, status: number, body: object) {
  const failure = FORMATS[api].decodeError(status, JSON.stringify(body));
  return toUpstreamError(failure, { credentials: 'entry', provider: 'prod' });
}

const said = (message: string, more: object = {}) => ({ error: { message, ...more } });
const ofGoogle = (code: number, message: string, status: string, reason: string) => ({
  error: {
    code,
    message,
    status,
    details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain: 'googleapis.com' }],
  },
});

type Row = readonly [vendor: string, api: Api, status: number, body: object, seenAs?: number];

const SPENT: readonly Row[] = [
  ['OpenAI', 'chat', 429, said('You exceeded your current quota.', { code: 'insufficient_quota' })],
  ['OpenAI, by its type', 'chat', 429, said('Quota.', { type: 'insufficient_quota' })],
  [
    'OpenAI’s hard limit',
    'chat',
    400,
    said('Billing hard limit has been reached', { type: 'invalid_request_error' }),
    402,
  ],
  ['OpenAI’s unpaid account', 'chat', 429, said('Your account is not active.', { code: 'billing_not_active' })],
  ['Anthropic, by its type', 'messages', 402, said('Billing.', { type: 'billing_error' })],
  [
    'Anthropic’s credit',
    'messages',
    400,
    said('Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing.', {
      type: 'invalid_request_error',
    }),
    402,
  ],
  [
    'Anthropic’s limit',
    'messages',
    400,
    said('You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.', {
      type: 'invalid_request_error',
    }),
    402,
  ],
  ['DeepSeek', 'chat', 402, said('Insufficient Balance', { type: 'unknown_error', code: 'invalid_request_error' })],
  ['a server of DeepSeek’s kind', 'chat', 400, said('Insufficient balance'), 402],
  ['OpenRouter', 'chat', 403, said('Key limit exceeded (monthly limit).', { code: 403 }), 402],
  [
    'xAI',
    'chat',
    403,
    { error: 'Your team 16f2151a has either used all available credits or reached its monthly spending limit.' },
    402,
  ],
  ['xAI, without credits', 'chat', 403, { error: 'Your newly created team doesn’t have any credits yet.' }, 402],
  ['GLM', 'chat', 429, said('Insufficient balance or no resource package. Please recharge.', { code: '1113' })],
  ['Kimi', 'chat', 429, said('Your account is suspended.', { type: 'exceeded_current_quota_error' })],
  ['SiliconFlow', 'chat', 403, { code: 30001, message: 'Sorry, your account balance is insufficient' }, 402],
  [
    'Alibaba',
    'chat',
    400,
    said('Access denied, please make sure your account is in good standing.', { code: 'Arrearage' }),
    402,
  ],
  [
    'Fireworks',
    'chat',
    412,
    said('Account acme is suspended, possibly due to reaching the monthly spending limit.'),
    402,
  ],
  [
    'Azure API Management',
    'chat',
    403,
    { statusCode: 403, message: 'Out of call volume quota. Quota will be replenished in 05:20:43.' },
    402,
  ],
  [
    'Google’s billing',
    'gemini',
    403,
    ofGoogle(403, 'This API method requires billing.', 'PERMISSION_DENIED', 'BILLING_DISABLED'),
    402,
  ],
  [
    'Google’s billing, at its OpenAI endpoint',
    'chat',
    403,
    [said('This API method requires billing to be enabled.', { status: 'PERMISSION_DENIED' })],
    402,
  ],
  [
    'Google’s billing, for Claude',
    'messages',
    403,
    [said('This API method requires billing to be enabled.', { status: 'PERMISSION_DENIED' })],
    402,
  ],
];

const REFUSED_KEYS: readonly Row[] = [
  ['OpenAI', 'chat', 401, said('Incorrect API key provided: sk-…', { code: 'invalid_api_key' })],
  ['Anthropic', 'messages', 401, said('invalid x-api-key', { type: 'authentication_error' })],
  [
    'Google’s access token',
    'gemini',
    401,
    ofGoogle(401, 'Invalid credentials.', 'UNAUTHENTICATED', 'ACCESS_TOKEN_EXPIRED'),
  ],
  ['Google’s key', 'gemini', 400, ofGoogle(400, 'API key not valid.', 'INVALID_ARGUMENT', 'API_KEY_INVALID'), 401],
  ['Google’s old key', 'gemini', 400, ofGoogle(400, 'API key expired.', 'INVALID_ARGUMENT', 'API_KEY_INVALID'), 401],
  [
    'Google’s key, at its OpenAI endpoint',
    'chat',
    400,
    [said('API key not valid. Please pass a valid API key.', { status: 'INVALID_ARGUMENT' })],
    401,
  ],
  [
    'xAI',
    'chat',
    400,
    { code: 'Client specified an invalid argument', error: 'Incorrect API key provided: xa***.' },
    401,
  ],
];

const FULL: readonly Row[] = (
  [
    ['a code', 'too much', { code: 'context_length_exceeded' }],
    ['Anthropic', 'prompt is too long: 210000 tokens > 200000 maximum'],
    ['Anthropic, with the answer', 'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000'],
    ['OpenAI', "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens."],
    ['OpenAI’s Responses', 'Your input exceeds the context window of this model. Please adjust your input.'],
    ['DeepSeek', "This model's maximum context length is 131072 tokens.", { code: 'invalid_request_error' }],
    ['Bedrock', 'Input is too long for requested model.'],
    ['Gemini', 'The input token count (1100000) exceeds the maximum number of tokens allowed (1048576).'],
    ['Vertex', 'the input token count is 40000 but model only supports up to 32768.'],
    ['xAI', "This model's maximum prompt length is 131072 but the request contains 140000 tokens."],
    ['Mistral', 'Prompt contains 40000 tokens, too large for model with 32768 maximum context length'],
    ['Cohere', 'too many tokens: total number of tokens in the prompt cannot exceed 4081'],
    ['Kimi', 'Invalid request: Your request exceeded model token limit: 8192 (requested: 9000)'],
    ['vLLM’s encoder', 'The decoder prompt (length 5000) is longer than the maximum model length of 4096.'],
    ['SGLang', "The input (61709 tokens) is longer than the model's context length (40960 tokens)."],
    ['SGLang, with the answer', "Requested token count exceeds the model's maximum context length of 8192 tokens."],
    ['SGLang’s memory', 'Input length (160062 tokens) exceeds the maximum allowed length (59862 tokens).'],
    ['llama.cpp', 'the request exceeds the available context size, try increasing it'],
    ['llama.cpp, by its type', 'too large', { type: 'exceed_context_size_error' }],
    ['Ollama', 'prompt too long; exceeded max context length by 123 tokens'],
    ['GLM', 'Prompt exceeds max length', { code: '1261' }],
    ['GitHub', 'Request body too large for gpt-x model. Max size: 8000 tokens.', { code: 'tokens_limit_reached' }],
    ['TGI', 'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000'],
    ['Alibaba', '<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]'],
  ] as readonly (readonly [string, string, object?])[]
).flatMap(([vendor, message, more]) =>
  [400, 413, 422].map((status): Row => [
    vendor,
    'chat',
    status,
    said(message, { type: 'invalid_request_error', ...more }),
  ]),
);

const FILTERED: readonly Row[] = [
  ...[
    'content_filter',
    'content_policy_violation',
    'contentFilter',
    'moderation_blocked',
    'ResponsibleAIPolicyViolation',
  ].map((code): Row => [`the code ${code}`, 'chat', 400, said('No.', { code })]),
  ['a type', 'chat', 400, said('No.', { type: 'content_filter' })],
  ['OpenAI’s images, with 403', 'chat', 403, said('No.', { code: 'content_policy_violation' })],
  ['Anthropic', 'messages', 400, said('Output blocked by content filtering policy')],
  [
    'Azure',
    'chat',
    400,
    said('The response was filtered due to the prompt triggering Azure’s content management policy.'),
  ],
  [
    'OpenAI’s reasoning models',
    'chat',
    400,
    said('flagged as potentially violating our usage policy', { code: 'invalid_prompt' }),
  ],
  ['Google’s images', 'gemini', 400, said('contains sensitive words that violate Google’s Responsible AI practices.')],
  ['OpenAI’s images', 'chat', 400, said('Your request was rejected as a result of our safety system.')],
];

const LIMITED: readonly Row[] = [
  ['OpenAI', 'chat', 429, said('Rate limit reached.', { code: 'rate_limit_exceeded' })],
  ['Anthropic', 'messages', 429, said('Too many.', { type: 'rate_limit_error' })],
  ['Google', 'gemini', 429, said('Quota.', { status: 'RESOURCE_EXHAUSTED' })],
  [
    'Groq',
    'chat',
    413,
    said('Request too large for model `x` on tokens per minute (TPM): Limit 8000, Requested 10411', {
      type: 'tokens',
      code: 'rate_limit_exceeded',
    }),
  ],
];

const OTHERS: readonly (readonly [string, Api, number, object, number, ErrorCode])[] = [
  [
    'a 403 about a model',
    'chat',
    403,
    said('This key has no access to the model m.', { code: 403 }),
    403,
    'upstream_permission',
  ],
  [
    'a leaked key of Google',
    'gemini',
    403,
    said('Your API key was reported as leaked.', { status: 'PERMISSION_DENIED' }),
    403,
    'upstream_permission',
  ],
  [
    'a long answer',
    'messages',
    400,
    said('max_tokens: 100000 > 8192, which is the maximum allowed number of output tokens'),
    400,
    'upstream_rejected',
  ],
  [
    'a long answer at OpenAI',
    'chat',
    400,
    said('max_tokens is too large: 100000. This model supports at most 4096 completion tokens.'),
    400,
    'upstream_rejected',
  ],
  [
    'a long answer at Vertex',
    'gemini',
    400,
    said('it has a maxOutputTokens value of 9 but the supported range is from 1 to 8'),
    400,
    'upstream_rejected',
  ],
  [
    'a limit of rates that names a length',
    'chat',
    429,
    said('TPM: maximum context length is no limit of rates'),
    429,
    'rate_limit_exceeded',
  ],
  ['an outage', 'chat', 500, said('prompt is too long to be true'), 500, 'upstream_error'],
  // A caller could open the breaker of a target with these if they were believed.
  [
    'a tool that is named like an unpaid bill',
    'chat',
    400,
    said("Invalid tool name: 'Insufficient balance'"),
    400,
    'upstream_rejected',
  ],
  ...['Insufficient balance', 'Your credit balance is too low', `API key not valid${' '.repeat(3000)}`].map(
    (field): (typeof OTHERS)[number] => [
      `a field that is named ${field.trim()}`,
      'messages',
      400,
      said(`${field}: Extra inputs are not permitted`),
      400,
      'upstream_rejected',
    ],
  ),
  [
    'a model that is named like an unpaid bill',
    'chat',
    400,
    said('insufficient balance is not a valid model ID'),
    400,
    'upstream_rejected',
  ],
  [
    'a prompt that talks of a refused key',
    'chat',
    400,
    said('Cannot parse: "API key not valid"'),
    400,
    'upstream_rejected',
  ],
];

describe('the words of a vendor', () => {
  const rows: readonly (readonly [string, readonly Row[], ErrorCode, readonly FailureKind[]])[] = [
    ['account without money', SPENT, 'insufficient_quota', ['quota']],
    ['refused key of the entry', REFUSED_KEYS, 'upstream_credentials_refused', ['auth', 'credentials']],
    ['full context', FULL, 'context_length_exceeded', ['context_length']],
    ['content filter', FILTERED, 'content_filter', ['content_filter']],
    ['limit of rates', LIMITED, 'rate_limit_exceeded', ['rate_limit']],
  ];
  for (const [what, vendors, code, kinds] of rows)
    it.each(
      vendors.map(([vendor, api, status, body, seenAs = status]) => [vendor, api, status, body, seenAs] as const),
    )(`for a ${what}: %s (%s, %i)`, (_, api, status, body, seenAs) => {
      const error = errorOf(api, status, body);
      expect(error).toMatchObject({ code, status: seenAs });
      expect(failureKinds(error)).toEqual(kinds);
    });

  it.each(OTHERS)('that only resemble those are of their status: %s', (_, api, sent, body, status, code) => {
    expect(errorOf(api, sent, body)).toMatchObject({ code, status });
  });

  it('of a megabyte are classified quickly', () => {
    const message = 'token count violating our '.repeat(40_000);
    expect(errorOf('chat', 400, said(message)).code).toBe('upstream_rejected');
  });

  it.each([
    ['context_length_exceeded', said('maximum context length is 9', { code: 'invalid_request_error' })],
    ['insufficient_quota', said('Insufficient balance', { code: 'invalid_request_error' })],
  ])('do not hide the code %s, on which clients act, behind another one', (code, body) => {
    expect(errorOf('chat', 400, body)).toMatchObject({ code, upstreamCode: undefined });
  });

  it('about a token of the caller leave it with the caller', () => {
    const failure = gemini.decodeError(
      400,
      JSON.stringify(ofGoogle(400, 'API key not valid.', 'X', 'API_KEY_INVALID')),
    );
    const error = toUpstreamError(failure, { credentials: 'caller', provider: 'prod' });
    expect(error).toMatchObject({ code: 'invalid_api_key', status: 400, toCallersToken: true });
    expect(failureKinds(error)).toEqual(['auth']);
  });
});
