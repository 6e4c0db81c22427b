import { words } from "~/words/words";

export const sortableWords = words(
  {
    move: (name: string) => `Move ${name}`,
    up: (name: string) => `Move ${name} up`,
    down: (name: string) => `Move ${name} down`,
    draggable: "can be moved",
    help: "The up and down arrow keys move it. Or press space to pick it up, arrow keys to carry it, space to put it down, and escape to leave it where it was.",
    place: (place: number, of: number) => `place ${place} of ${of}`,
    placeOf: (name: string) => name,
    start: (name: string) => `${name} is picked up.`,
    over: (name: string, place: string) => `${name} is over ${place}.`,
    end: (name: string, place: string) => `${name} was put at ${place}.`,
    cancel: (name: string) => `${name} stays where it was.`,
  },
  {
    move: (name: string) => `移动 ${name}`,
    up: (name: string) => `上移 ${name}`,
    down: (name: string) => `下移 ${name}`,
    draggable: "可移动",
    help: "按上下方向键移动。也可以按空格拿起，用方向键移动，再按空格放下，按 Esc 放回原处。",
    place: (place: number, of: number) => `第 ${place} 位（共 ${of} 条）`,
    placeOf: (name: string) => ` ${name} 的位置`,
    start: (name: string) => `已拿起 ${name}。`,
    over: (name: string, place: string) => `${name} 在${place}。`,
    end: (name: string, place: string) => `${name} 已放到${place}。`,
    cancel: (name: string) => `${name} 留在原处。`,
  },
);
