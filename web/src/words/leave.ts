import { words } from "~/words/words";

export const leaveWords = words(
  {
    unsaved: "Unsaved",
    discard: "Discard changes",
    title: "Unsaved changes",
    question: "You have changed something here and not saved it. Leave without saving?",
    stay: "Stay",
    leave: "Leave without saving",
    elsewhere: "Somebody else has changed this since you opened it.",
    conflictTitle: "Changed meanwhile",
    conflict: "Somebody else saved this while you were editing it. What shall stay?",
    keepMine: "Keep mine",
    takeTheirs: "Take theirs",
  },
  {
    unsaved: "未保存",
    discard: "放弃修改",
    title: "有未保存的修改",
    question: "这里的修改还没有保存。不保存就离开吗？",
    stay: "留下",
    leave: "不保存，离开",
    elsewhere: "你打开之后，有人修改了它。",
    conflictTitle: "期间有改动",
    conflict: "你编辑的时候，有人保存了它。保留哪一个？",
    keepMine: "保留我的",
    takeTheirs: "采用对方的",
  },
);
