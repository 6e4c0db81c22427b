/** Lets the browser save a file, under a name that every file system takes. */
export function saveFile(content: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name.replace(/[\\/:*?"<>|\p{Cc}]+/gu, "-");
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
