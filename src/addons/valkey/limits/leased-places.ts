import { PAUSE_MS, type Leased, type Lessor } from './leased.ts';

/** The end of another request makes room. When it comes is unknown. */
const FULL_MS = 1000;

/** Places that all processes share. This one holds as many as it has used within the last second. */
export class LeasedPlaces implements Leased {
  readonly name: string;
  readonly #lessor: Lessor;
  readonly #taken: () => number;
  #most: number;
  #held = 0;
  #left = 0;
  #heardAt = -Infinity;
  /** Most places that were taken at once in this second, and in the last. */
  #peak = 0;
  #before = 0;
  #waiting = 0;
  /** Of each question that is not answered yet, the places for requests that wait. */
  readonly #sent: number[] = [];

  constructor(
    name: string,
    most: number,
    { taken, lessor }: { readonly taken: () => number; readonly lessor: Lessor },
  ) {
    this.name = name;
    this.#most = most;
    this.#taken = taken;
    this.#lessor = lessor;
  }

  change(most: number): void {
    this.#most = most;
  }

  get level(): number {
    return this.#held - this.#taken() + this.#left;
  }

  waitFor(units: number): number | undefined {
    if (!this.#lessor.isUp) return undefined;
    if (this.#taken() + units <= this.#held) return 0;
    return this.#age() <= FULL_MS ? FULL_MS : undefined;
  }

  take(_units: number): void {
    this.#peak = Math.max(this.#peak, this.#taken());
    this.#lessor.use(this);
  }

  fetch(units: number): Promise<void> | undefined {
    if (!this.#lessor.isUp || this.#taken() + units <= this.#held) return undefined;
    if (this.#age() < PAUSE_MS && this.#left < units) return undefined;
    this.#waiting += units;
    return this.#lessor.ask(this);
  }

  get isIdle(): boolean {
    return this.#held === 0 && this.#taken() === 0 && this.#waiting === 0 && this.#sent.length === 0;
  }

  tick(): void {
    this.#before = this.#peak;
    this.#peak = this.#taken();
  }

  question(leaving: boolean): readonly (string | number)[] {
    const taken = this.#taken();
    this.#sent.push(this.#waiting);
    this.#waiting = 0;
    const waiting = this.#sent.reduce((sum, places) => sum + places, 0);
    const wanted = leaving ? 0 : Math.max(this.#before, this.#peak, taken + waiting);
    // Places that are given back must not be used before the answer.
    this.#held = Math.min(this.#held, Math.max(wanted, taken));
    return ['places', this.#most, leaving ? 0 : taken, wanted, 0, 0, 0];
  }

  answered(got: number, left: number): void {
    this.#sent.shift();
    this.#held = got;
    this.#left = left;
    this.#heardAt = this.#lessor.now();
  }

  unanswered(): void {
    this.#sent.shift();
    this.#heardAt = -Infinity;
  }

  #age(): number {
    return this.#lessor.now() - this.#heardAt;
  }
}
