import { anthropicMessages } from '../../formats/anthropic-messages/index.ts';
import { gemini } from '../../formats/gemini/index.ts';
import { openaiChat } from '../../formats/openai-chat/index.ts';
import { filesDisabled } from './disabled-files.ts';
import type { Operation } from '../../core/kernel/index.ts';

const OF_FILES = { task: undefined, validate: () => undefined, unanswered: filesDisabled } as const;
const OF_GATEWAY = { ...OF_FILES, format: openaiChat } as const;

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

const SERVED_BY_GOOGLE: ReadonlySet<string> = new Set(['files.list', 'files.retrieve', 'files.delete']);

/**
 * Google's: https://ai.google.dev/api/files. Its clients upload in two steps to a path of their own (docs/protocols/files.md#google).
 * `/v1/files` is OpenAI's path too: Google's clients send their key, or their name.
 */
const ofGoogle = ofOpenAi.flatMap((operation): Operation[] => {
  const own = { ...operation, format: gemini };
  if (operation.id === 'files.create') return [{ ...own, path: '/upload/{version:v1beta|v1|v1alpha}/files' }];
  if (!SERVED_BY_GOOGLE.has(operation.id)) return [];
  const older = { ...own, path: own.path.replace('/v1/', '/{version:v1beta|v1alpha}/') };
  return [{ ...own, header: 'x-goog-api-key' }, { ...own, header: 'x-goog-api-client' }, older];
});

/** Files that callers upload, to name them in later requests. The gateway answers these operations itself. */
export const files: readonly Operation[] = [...ofOpenAi, ...ofAnthropic, ...ofGoogle];
