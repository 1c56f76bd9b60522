import { GatewayError } from '../../plugin/index.ts';
import type { FileService } from '../../core/kernel/index.ts';

export const filesDisabled = (): GatewayError =>
  new GatewayError('files_disabled', 'This gateway stores no files: server.yaml has no `files`.');

const refuse = (): Promise<never> => Promise.reject(filesDisabled());

/** For a chain with the plugin `files` in a gateway that stores none. */
export const NO_FILES: FileService = {
  upload: refuse,
  inPieces: { begin: refuse, add: refuse, received: refuse, cancel: refuse },
  list: refuse,
  find: refuse,
  remove: refuse,
  content() {
    throw filesDisabled();
  },
};
