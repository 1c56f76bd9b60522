import { anthropicMessages } from '../formats/anthropic-messages/index.ts';
import { openaiChat } from '../formats/openai-chat/index.ts';
import type { Operation } from '../plugin/index.ts';

const OF_GATEWAY = { task: undefined, format: openaiChat, validate: () => undefined } as const;

const LIST = '/v1/files';
const ONE = '/v1/files/{id}';

/** https://platform.openai.com/docs/api-reference/files */
const ofOpenAi: readonly Operation[] = [
  { ...OF_GATEWAY, id: 'files.create', method: 'POST', path: LIST, body: 'multipart', semconvName: 'create_file' },
  { ...OF_GATEWAY, id: 'files.list', method: 'GET', path: LIST, semconvName: 'list_files' },
  { ...OF_GATEWAY, id: 'files.retrieve', method: 'GET', path: ONE, semconvName: 'retrieve_file' },
  { ...OF_GATEWAY, id: 'files.content', method: 'GET', path: `${ONE}/content`, semconvName: 'download_file' },
  { ...OF_GATEWAY, id: 'files.delete', method: 'DELETE', path: ONE, semconvName: 'delete_file' },
];

/**
 * Anthropic's API has the same paths: https://platform.claude.com/docs/en/api/files-create. Its SDKs send `anthropic-version` with
 * every request and `anthropic-beta` with those of the beta client (docs/protocols/files.md#anthropic).
 */
const ofAnthropic = (['anthropic-version', 'anthropic-beta'] as const).flatMap((header) =>
  ofOpenAi.map((operation): Operation => ({ ...operation, header, format: anthropicMessages })),
);

/** Files that callers upload, to name them in later requests. The gateway answers these operations itself. */
export const files: readonly Operation[] = [...ofOpenAi, ...ofAnthropic];
