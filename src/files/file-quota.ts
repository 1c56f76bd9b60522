import { GatewayError, type FileLimits } from '../plugin/index.ts';

/** The form around a file is at most this long: boundaries, part headers and text fields, within the limits of the parser. */
const FORM_BYTES = 64 * 1024;

/** The bytes that an owner may still store. */
export class FileQuota {
  readonly #limits: FileLimits;
  readonly #used: number;

  /**
   * Throws GatewayError if there are too many files.
   * @param present sizes of the files that the owner has
   * @param unfinished bytes of its unfinished uploads
   */
  constructor(limits: FileLimits, present: readonly number[], unfinished: readonly number[] = []) {
    if (present.length >= limits.maxFiles) throw tooManyFiles(limits);
    this.#limits = limits;
    this.#used = sum(present) + sum(unfinished);
  }

  /** Refuses a form that announces too much before any of it is read. */
  checkForm(announced: number): void {
    this.check(announced - FORM_BYTES);
  }

  check(bytes: number): void {
    const { maxFileBytes, maxTotalBytes } = this.#limits;
    if (bytes > maxFileBytes)
      throw new GatewayError('file_too_large', `The file exceeds ${maxFileBytes} bytes (files.max_file_bytes).`, {
        param: 'file',
      });
    if (this.#used + bytes > maxTotalBytes) throw overTotal(this.#limits);
  }
}

const overTotal = ({ maxTotalBytes }: FileLimits): GatewayError =>
  new GatewayError(
    'file_quota_exceeded',
    `With this file, the files of this key would exceed ${maxTotalBytes} bytes together (files.max_total_bytes). Delete some.`,
  );

const tooManyFiles = ({ maxFiles }: FileLimits): GatewayError =>
  new GatewayError('file_quota_exceeded', `This key has ${maxFiles} files already (files.max_files). Delete some.`);

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

/** Called when a file is about to become visible, with the sizes of all files of its owner. Throws GatewayError. */
export function admitFile(limits: FileLimits, sizes: readonly number[]): void {
  if (sizes.length > limits.maxFiles) throw tooManyFiles(limits);
  if (sum(sizes) > limits.maxTotalBytes) throw overTotal(limits);
}
