/**
 * A small file that is replaced by rename without fsync, as the stored head of the ledger is. Processes always
 * see the newest version. After a power loss it may be an older one, torn, empty, or missing.
 */
export class RenamedFile {
  #visible: string | undefined;
  /** What a power loss may leave: the last version that is certain to be on the disk, and all since then. */
  #versions: (string | undefined)[] = [undefined];

  read(): string | undefined {
    return this.#visible;
  }

  write(text: string): void {
    this.#visible = text;
    this.#versions.push(text);
  }

  /** The operating system wrote it to the disk in its own time. */
  isFlushed(): void {
    this.#versions = [this.#visible];
  }

  losePower(random: () => number): void {
    const last = this.#versions.length - 1;
    const index = Math.floor(random() * (last + 1));
    const left = this.#versions[index];
    // The rename may reach the disk before the text does.
    const isTorn = index > 0 && random() < 0.3;
    this.#visible = isTorn ? left?.slice(0, Math.floor(random() * left.length)) : left;
    this.#versions = [this.#visible];
  }

  clear(): void {
    this.#visible = undefined;
    this.#versions = [undefined];
  }
}
