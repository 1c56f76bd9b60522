import { FILE_PURPOSES, type FilePage, type FileQuery, type StoredFile, Query } from '../../../../core/kernel/index.ts';

/** docs/protocols/files.md#openai */
const MAX_LIMIT = 10_000;

export function readOpenAiQuery(text: string): FileQuery {
  const query = new Query(text);
  return {
    purpose: query.oneOf('purpose', FILE_PURPOSES),
    limit: query.number('limit', { byDefault: MAX_LIMIT, max: MAX_LIMIT }),
    after: query.text('after'),
    newestFirst: query.oneOf('order', ['asc', 'desc']) !== 'asc',
  };
}

export const toOpenAiFile = ({ id, bytes, createdAt, expiresAt, filename, purpose }: StoredFile): object => ({
  id,
  object: 'file',
  bytes,
  created_at: Math.floor(createdAt / 1000),
  expires_at: Math.floor(expiresAt / 1000),
  filename,
  purpose,
  status: 'processed',
});

export const toOpenAiPage = ({ files, hasMore }: FilePage): object => ({
  object: 'list',
  data: files.map(toOpenAiFile),
  first_id: files[0]?.id ?? null,
  last_id: files.at(-1)?.id ?? null,
  has_more: hasMore,
});
