import type { BodyView, ClientAsked, ClientWishes } from '../format.ts';

/** Ids are bare in this API; usage is on every chunk, asked for or not. */
export const readClient = (_body: BodyView, { id, strict }: ClientAsked): ClientWishes => ({
  id,
  strict,
  includeUsage: true,
});
