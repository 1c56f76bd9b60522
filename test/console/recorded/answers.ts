import explanation from './explanation.json' with { type: 'json' };
import { streamOf, type Recorded } from '../page.ts';
import { idOf, lines, places, PRODUCTION, request, session } from './requests.ts';

/** An answer for each call of the page: a gateway with 280 requests. */
export const ANSWERS: Readonly<Record<string, Recorded>> = {
  'GET /session': session,
  'GET /stream': streamOf(),
  'GET /requests': { items: lines(180), oldest: '2026-11-28T18:00:00Z', partial: [] },
  [`GET /requests/${idOf(0)}`]: request,
  'GET /explain/exp1': explanation,
  'POST /explain': explanation,
  'GET /settings/places': places,
  'GET /settings/file': (_, response, query) =>
    void response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ path: query.get('path'), hash: '04a0fcf0aa', text: PRODUCTION, masked: [] })),
};
