import type { FilePage, FileQuery, GatewayContext, StoredFile } from '../../../../core/kernel/index.ts';

/** Stored files as one API shows them. */
export interface FilesApi {
  /** Reads the query of a listing. Throws GatewayError. */
  readQuery(text: string): FileQuery;
  toFile(file: StoredFile, ctx: GatewayContext): object;
  toPage(page: FilePage, ctx: GatewayContext): object;
  removed(id: string): object;
}
