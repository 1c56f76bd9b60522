import { GatewayError } from '../../plugin/index.ts';
import type { FileLimits } from '../../core/kernel/index.ts';
import type { ArrivingUpload } from './arrivals.ts';

/** The form around a file is at most this long: boundaries, part headers and text fields, within the limits of the parser. */
const FORM_BYTES = 64 * 1024;

/** The bytes that an owner may still store while a request brings a file. */
export class FileQuota {
  readonly #limits: FileLimits;
  readonly #arrival: ArrivingUpload;

  /** Throws GatewayError if there are too many files. */
  constructor(limits: FileLimits, files: number, arrival: ArrivingUpload) {
    if (files >= limits.maxFiles) throw tooManyFiles(limits);
    this.#limits = limits;
    this.#arrival = arrival;
  }

  /** Counts what a form announces, or refuses it before any of it is read. */
  takeForm(announced: number): void {
    this.take(announced - FORM_BYTES);
  }

  /** Counts the bytes that the file has or will have, or refuses them. Other uploads see them at once. */
  take(bytes: number): void {
    this.check(bytes);
    this.#arrival.bytes = Math.max(this.#arrival.bytes, bytes);
  }

  check(bytes: number): void {
    const { maxFileBytes, maxTotalBytes } = this.#limits;
    if (bytes > maxFileBytes)
      throw new GatewayError('file_too_large', `The file exceeds ${maxFileBytes} bytes (files.max_file_bytes).`, {
        param: 'file',
      });
    if (this.#arrival.others + bytes > maxTotalBytes) throw overTotal(this.#limits);
  }
}

const overTotal = ({ maxTotalBytes }: FileLimits): GatewayError =>
  new GatewayError(
    'file_quota_exceeded',
    `With this file, the files of this key would exceed ${maxTotalBytes} bytes together (files.max_total_bytes). Delete some.`,
  );

const tooManyFiles = ({ maxFiles }: FileLimits): GatewayError =>
  new GatewayError('file_quota_exceeded', `This key has ${maxFiles} files already (files.max_files). Delete some.`);

/** Called when a file is about to become visible, with the sizes of all files of its owner. Throws GatewayError. */
export function admitFile(limits: FileLimits, sizes: readonly number[]): void {
  if (sizes.length > limits.maxFiles) throw tooManyFiles(limits);
  if (sizes.reduce((total, one) => total + one, 0) > limits.maxTotalBytes) throw overTotal(limits);
}
