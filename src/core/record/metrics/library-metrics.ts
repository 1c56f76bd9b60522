import type { RequestRecord } from '../record.ts';
import { each, metric } from './metric-spec.ts';

const REQUEST_OUTCOMES = ['success', 'error', 'aborted'] as const satisfies readonly RequestRecord['outcome'][];

export const UPLOAD = 'files.create';

export const LIBRARY_METRICS = {
  aliasRequests: metric({
    name: 'gatehouse_alias_requests_total',
    help: 'Requests whose model is an alias of catalog.yaml, by alias, the model of the last attempt (as in gatehouse_upstream_requests_total, empty without one) and outcome: success, error, aborted (the client disconnected). All other metrics have the model alone.',
    labels: ['alias', 'provider', 'request_model', 'outcome'],
    ofRequest: ({ alias, attempts, outcome }, note) => {
      if (alias !== undefined) {
        const place = attempts.at(-1)?.place;
        note({ alias, provider: place?.provider ?? '', request_model: place?.modelLabel ?? '', outcome });
      }
    },
  }),
  promptRequests: metric({
    name: 'gatehouse_prompt_requests_total',
    help: 'Requests with a prompt of the library that exists, by its version and outcome: success, error, aborted (the client disconnected). Renderings count, too.',
    labels: ['prompt', 'version', 'outcome'],
    ofRequest: ({ prompt, outcome }, note) => {
      if (prompt) note({ prompt: prompt.id, version: String(prompt.version), outcome });
    },
  }),
  fileUploads: metric({
    name: 'gatehouse_file_uploads_total',
    help: 'Uploads of files, by outcome: success, error (nothing is stored), aborted (the client disconnected).',
    labels: ['outcome'],
    zero: each('outcome', REQUEST_OUTCOMES),
    ofRequest: ({ operation, outcome }, note) => {
      if (operation === UPLOAD) note({ outcome });
    },
  }),
  fileUploadBytes: metric({
    name: 'gatehouse_file_upload_bytes_total',
    help: 'Bytes of uploads that arrived, with the form around the file, by outcome as in gatehouse_file_uploads_total.',
    labels: ['outcome'],
    zero: each('outcome', REQUEST_OUTCOMES),
    ofRequest: ({ operation, outcome, bytesIn }, note) => {
      if (operation === UPLOAD) note({ outcome }, bytesIn);
    },
  }),
  storedFiles: metric({
    name: 'gatehouse_stored_files',
    help: 'Files in the store. Counted at start and every ten minutes; in between, a process adds its own uploads and removals.',
    zero: [{}],
    aggregator: 'max',
  }),
  storedFileBytes: metric({
    name: 'gatehouse_stored_file_bytes',
    help: 'Size of all files in the store, counted as gatehouse_stored_files is. files.max_total_bytes bounds it for each key.',
    zero: [{}],
    aggregator: 'max',
  }),
};
