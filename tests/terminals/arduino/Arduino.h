// What a sketch finds in Arduino's core: names and types as there, without bodies.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

typedef bool boolean;
typedef uint8_t byte;

#define HIGH 1
#define LOW 0
#define INPUT 0x01
#define OUTPUT 0x03

void pinMode(uint8_t pin, uint8_t mode);
void digitalWrite(uint8_t pin, uint8_t value);
void analogWrite(uint8_t pin, int value);
void delay(uint32_t ms);
unsigned long millis();

class String {
 public:
  String(const char* text = "");
  String(const String& other);
  String& operator=(const String& other);
  String& operator+=(const char* text);
  const char* c_str() const;
  unsigned int length() const;
  bool endsWith(const String& suffix) const;
  bool startsWith(const String& prefix) const;
  int indexOf(const String& text) const;
  String substring(unsigned int begin) const;
};
String operator+(const String& left, const String& right);
String operator+(const String& left, const char* right);

class HardwareSerial {
 public:
  void begin(unsigned long baud);
  size_t println(const char* text);
  size_t println(const String& text);
};
extern HardwareSerial Serial;
