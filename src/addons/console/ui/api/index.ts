/** The parts of the API that the page uses: the calls, the session, the stream of requests. The shapes of answers are in shapes.ts. */
export { allOf, api, ApiRefusal, ask, MAX_ITEMS, refusalOf, stream } from './client.ts';
export { curlOf, dataUrl, DEMO_BODY, demoCurl } from './curl.ts';
export { download } from './download.ts';
export { boot, live, missed, onLines, settingsTurn, startLive } from './live.ts';
export { asRefusal, type Doing, type Loading, useAction, useLoad } from './load.ts';
export { usePaged } from './paged.ts';
export { createRun, type Run, useRun } from './run.ts';
export { type ConsoleRole, keepHalf, may, needs, owns, resume, session, signInNeeded } from './session.ts';
export { readEvents } from './sse.ts';
