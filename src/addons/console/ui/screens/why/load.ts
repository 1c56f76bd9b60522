import { api, ApiRefusal, ask } from '../../api/index.ts';
import type { ApiSchemas, ShownExplanation, ShownRequest } from '../../api/shapes.ts';
import { placesOf, type WhyPlaces } from './path.ts';

export interface WhyData extends WhyPlaces {
  readonly request: ShownRequest;
  /** The settings that the places belong to are still in force. */
  readonly settingsHash: string;
}

const unlessMissing = async <Data>(call: Promise<Data>): Promise<Data | undefined> => {
  try {
    return await call;
  } catch (error) {
    if (error instanceof ApiRefusal && error.status === 404) return undefined;
    throw error;
  }
};

/** The record, and the explanation where the body is kept; else the places of its config, which answer the same question. */
export async function loadWhy(id: string, signal: AbortSignal): Promise<WhyData> {
  // The document leaves members of records and explanations open that this page knows.
  const request = (await ask(
    api.GET('/requests/{id}', { params: { path: { id } }, signal }),
  )) as unknown as ShownRequest;
  const kept = request.explain_id;
  const explanation =
    kept === undefined
      ? undefined
      : ((await unlessMissing(ask(api.GET('/explain/{id}', { params: { path: { id: kept } }, signal })))) as unknown as
          | ShownExplanation
          | undefined);
  const settingsHash = request.settings_hash ?? '';
  if (explanation) return { request, explanation, places: placesOf(explanation), settingsHash };
  if (!request.config) return { request, places: {}, settingsHash };
  const query = { config: [request.config.id], ...(settingsHash !== '' && { hash: settingsHash }) };
  const found = await unlessMissing(ask(api.GET('/settings/places', { params: { query }, signal })));
  return { request, places: found?.places ?? {}, settingsHash };
}

/** Undefined: the settings have changed since, and that text is not kept. */
export const loadFile = (
  path: string,
  hash: string,
  signal: AbortSignal,
): Promise<ApiSchemas['settings_file'] | undefined> =>
  unlessMissing(ask(api.GET('/settings/file', { params: { query: { path, ...(hash !== '' && { hash }) } }, signal })));
