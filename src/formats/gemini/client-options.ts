import type { BodyView, ClientAsked, ClientOptions } from '../format.ts';

/** Ids are bare in this API; usage is on every chunk, asked for or not. */
export const readClient = (_body: BodyView, { id, strict }: ClientAsked): ClientOptions => ({
  id,
  strict,
  includeUsage: true,
});
