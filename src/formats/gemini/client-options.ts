import type { BodyView, ClientAsked, ClientOptions } from '../format.ts';

/** Ids have no prefix in this API. Every chunk has usage, requested or not. */
export const readClient = (_body: BodyView, { id, strict }: ClientAsked): ClientOptions => ({
  id,
  strict,
  includeUsage: true,
});
